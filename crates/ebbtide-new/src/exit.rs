//! Ends a thread's owner when the thread ends.
//!
//! Destructors of thread-locals run first, then those of POSIX keys, which may set keys again. On
//! Linux, the owner is the value of a key, so it also ends if a destructor opens the thread's first
//! scope. On other systems the memory of thread-locals may be gone when destructors of keys run, so
//! a destructor of a thread-local ends the owner.

use ebbtide_global::engine::Owner;

/// Registers `owner` to be ended when the calling thread ends. Returns false if that is impossible.
///
/// # Safety
///
/// The owner is a variable of this thread, and lives until the destructors of the thread's
/// variables have run; on Linux, until those of keys have run.
pub(crate) unsafe fn register(owner: &Owner) -> bool {
    // SAFETY: the owner is alive, aligned, and lives until what is registered here has run, by this
    // function's contract; nothing else keeps this reference.
    register_lasting(unsafe { &*core::ptr::from_ref(owner) })
}

#[cfg(target_os = "linux")]
fn register_lasting(owner: &'static Owner) -> bool {
    use core::{ffi::c_void, ptr};
    use ebbtide::front_end::ThreadKey;

    /// Destructors that run later may still allocate and free, outside of scopes.
    unsafe extern "C" fn end(owner: *mut c_void) {
        // SAFETY: the values of the key are references to owners.
        unsafe { &*owner.cast::<Owner>() }.end();
    }

    // SAFETY: its values are references to owners, set below.
    static KEY: ThreadKey = unsafe { ThreadKey::new(end) };

    // SAFETY: the owner lives until destructors of keys have run in this thread, as `register` was
    // promised.
    unsafe { KEY.set(ptr::from_ref(owner).cast_mut().cast()) }
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
