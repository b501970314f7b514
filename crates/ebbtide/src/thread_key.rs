//! A key of POSIX threads, whose destructor runs at the end of a thread.
//!
//! Destructors of thread-locals run first, then those of keys. If a thread first uses a front end
//! in the destructor of a key, it is too late to register the destructor of a thread-local, so the
//! front end needs a key as well. On systems other than Linux, the memory of thread-locals may be
//! gone by then.

use core::{
    ffi::{c_int, c_uint, c_void},
    sync::atomic::{AtomicUsize, Ordering},
};

/// The key of a front end: one value for each thread, and a function that gets the value when the
/// thread ends. For Linux. The system's key is created when the first value is set.
///
/// ```
/// use ebbtide::front_end::ThreadKey;
/// use std::{ffi::c_void, sync::atomic::{AtomicU32, Ordering::Relaxed}, thread};
///
/// static ENDED: AtomicU32 = AtomicU32::new(0);
///
/// unsafe extern "C" fn end(count: *mut c_void) {
///     // SAFETY: the value that was set.
///     unsafe { &*count.cast::<AtomicU32>() }.fetch_add(1, Relaxed);
/// }
///
/// // SAFETY: its values are references to the variable.
/// static KEY: ThreadKey = unsafe { ThreadKey::new(end) };
///
/// // SAFETY: the function takes a reference to the variable.
/// thread::spawn(|| assert!(unsafe { KEY.set((&raw const ENDED).cast_mut().cast()) })).join().unwrap();
/// assert_eq!(ENDED.load(Relaxed), 1);
/// ```
#[derive(Debug)]
pub struct ThreadKey {
    /// The number of the system's key plus one. [`NONE`] before the key exists, and [`DELETED`]
    /// from the time when it was deleted.
    number: AtomicUsize,
    /// The number of threads in [`set`](ThreadKey::set).
    setters: AtomicUsize,
    end: unsafe extern "C" fn(*mut c_void),
}

const NONE: usize = 0;
const DELETED: usize = usize::MAX;

unsafe extern "C" {
    fn pthread_key_create(
        key: *mut c_uint,
        end: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    fn pthread_key_delete(key: c_uint) -> c_int;
    fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
}

impl ThreadKey {
    /// Creates a key. When a thread ends that has set a value, the system passes the value to
    /// `end`, unless it is null.
    ///
    /// # Safety
    ///
    /// `end` may be called with every value that is set, at the end of the thread that set it.
    ///
    /// ```
    /// use ebbtide::front_end::ThreadKey;
    /// unsafe extern "C" fn end(_: *mut std::ffi::c_void) {}
    /// // SAFETY: the function ignores its argument.
    /// static KEY: ThreadKey = unsafe { ThreadKey::new(end) };
    /// # let _ = &KEY;
    /// ```
    #[must_use]
    pub const unsafe fn new(end: unsafe extern "C" fn(*mut c_void)) -> Self {
        ThreadKey { number: AtomicUsize::new(NONE), setters: AtomicUsize::new(0), end }
    }

    /// Sets the value of the calling thread. Returns false if that is impossible, because the
    /// process has too many keys or this one was deleted. A destructor of a key may set it again;
    /// the system then runs another round of destructors, up to four in all.
    ///
    /// # Safety
    ///
    /// The value is null, or the function passed to [`new`](ThreadKey::new) may be called with it
    /// until destructors of keys have run in this thread or another value was set.
    ///
    /// ```
    /// use ebbtide::front_end::ThreadKey;
    /// unsafe extern "C" fn end(_: *mut std::ffi::c_void) {}
    /// // SAFETY: the function ignores its argument.
    /// static KEY: ThreadKey = unsafe { ThreadKey::new(end) };
    /// // SAFETY: null is no value.
    /// assert!(unsafe { KEY.set(std::ptr::null_mut()) });
    /// ```
    pub unsafe fn set(&self, value: *mut c_void) -> bool {
        // Before `get` reads the number. All accesses of both are sequentially consistent: either
        // `delete` sees this thread, and the system's key stays, or `get` sees `DELETED`.
        self.setters.fetch_add(1, Ordering::SeqCst);
        let is_set = self.get().is_some_and(|key| {
            // SAFETY: `get` created the key, and `delete` leaves it alone while this thread is
            // counted. `end` may be called with `value`, by this function's contract.
            unsafe { pthread_setspecific(key, value) == 0 }
        });
        self.setters.fetch_sub(1, Ordering::SeqCst);
        is_set
    }

    /// The system's key. `None` if the process has too many keys or this one was deleted.
    fn get(&self) -> Option<c_uint> {
        let known = self.number.load(Ordering::SeqCst);
        if known != NONE {
            return system_key(known);
        }
        let mut key = 0;
        // SAFETY: `key` is valid for the write of the result. `end` may be called with every value
        // that is set, by `new`'s contract.
        if unsafe { pthread_key_create(&raw mut key, Some(self.end)) } != 0 {
            return None;
        }
        // Keys are small: there is no overflow.
        let made = usize::try_from(key).ok()?.checked_add(1)?;
        match self.number.compare_exchange(NONE, made, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => Some(key),
            Err(other) => {
                // SAFETY: the key was created just now, and nobody else knows it.
                unsafe { pthread_key_delete(key) };
                system_key(other)
            }
        }
    }

    /// Deletes the system's key, for the end of a library that is unloaded. No value is passed to
    /// the function any more, and none can be set. No-op if no value was ever set. If another
    /// thread is setting a value at the same time, the system's key stays.
    ///
    /// ```
    /// use ebbtide::front_end::ThreadKey;
    /// unsafe extern "C" fn end(_: *mut std::ffi::c_void) {}
    /// // SAFETY: the function ignores its argument.
    /// let key = unsafe { ThreadKey::new(end) };
    /// key.delete();
    /// // SAFETY: null is no value.
    /// assert!(!unsafe { key.set(std::ptr::null_mut()) });
    /// ```
    pub fn delete(&self) {
        let number = self.number.swap(DELETED, Ordering::SeqCst);
        if self.setters.load(Ordering::SeqCst) > 0 {
            return;
        }
        if let Some(key) = system_key(number) {
            // SAFETY: `get` created the key. Threads that set a value have done so, or see
            // `DELETED`.
            unsafe { pthread_key_delete(key) };
        }
    }
}

/// The system's key with this number.
fn system_key(number: usize) -> Option<c_uint> {
    if number == NONE || number == DELETED {
        return None;
    }
    c_uint::try_from(number - 1).ok()
}
