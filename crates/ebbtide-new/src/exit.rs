//! Ends a thread's owner when the thread ends.
//!
//! Destructors of thread-locals run first, then those of POSIX keys, which may set keys anew. So on
//! Linux the owner is the value of a key: then it also ends if a destructor opens the thread's first
//! scope. On other systems the memory of thread-locals may be gone when destructors of keys run.
//! There it is a destructor of a thread-local that ends the owner.

use ebbtide_global::engine::Owner;

/// Makes the end of the calling thread end `owner`. Returns false if that is impossible.
///
/// # Safety
///
/// The owner is a variable of this thread, and lives until the destructors of the thread's variables
/// have run; on Linux, until those of keys have run.
pub(crate) unsafe fn register(owner: &Owner) -> bool {
    // SAFETY: the caller says that the owner outlives whatever ends it, which alone keeps this
    // reference.
    register_lasting(unsafe { &*core::ptr::from_ref(owner) })
}

#[cfg(target_os = "linux")]
use key::register as register_lasting;

#[cfg(target_os = "linux")]
mod key {
    use core::{
        ffi::c_void,
        ptr,
        sync::atomic::{AtomicU64, Ordering},
    };
    use ebbtide_global::engine::Owner;

    /// The key plus one; 0 before there is one.
    static KEY: AtomicU64 = AtomicU64::new(0);

    /// Destructors that run later may still allocate and free, outside of scopes.
    extern "C" fn end(owner: *mut c_void) {
        // SAFETY: only `register` sets values of the key, which are references to owners that live
        // until such destructors have run.
        unsafe { &*owner.cast::<Owner>() }.end();
    }

    pub(super) fn register(owner: &'static Owner) -> bool {
        let Some(key) = get() else { return false };
        let owner = ptr::from_ref(owner).cast::<c_void>();
        // SAFETY: the key was created and is never deleted.
        unsafe { libc::pthread_setspecific(key, owner) == 0 }
    }

    /// The key of all threads. `None` if the process has too many keys.
    fn get() -> Option<libc::pthread_key_t> {
        let known = KEY.load(Ordering::Relaxed);
        if known != 0 {
            return libc::pthread_key_t::try_from(known - 1).ok();
        }
        let mut key = 0;
        // SAFETY: `key` is a variable for the result.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } != 0 {
            return None;
        }
        let new = u64::from(key) + 1;
        match KEY.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(key),
            Err(other) => {
                // SAFETY: the key was created just now, and nobody else knows it.
                unsafe { libc::pthread_key_delete(key) };
                libc::pthread_key_t::try_from(other - 1).ok()
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn register_lasting(owner: &'static Owner) -> bool {
    use core::cell::Cell;

    struct Exit {
        owner: Cell<Option<&'static Owner>>,
    }

    impl Drop for Exit {
        fn drop(&mut self) {
            // Destructors of other variables may still allocate and free, outside of scopes.
            if let Some(owner) = self.owner.take() {
                owner.end();
            }
        }
    }

    std::thread_local! {
        static EXIT: Exit = const { Exit { owner: Cell::new(None) } };
    }

    // Fails if `EXIT` is already destroyed.
    EXIT.try_with(|exit| exit.owner.set(Some(owner))).is_ok()
}
