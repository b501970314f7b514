//! A lock around a value.
//!
//! On Linux it is the C library's mutex, because `ThreadSanitizer` knows that one in programs whose
//! library was not compiled for it: otherwise it would report a race wherever a block passes from one
//! thread to another.

#[cfg(any(not(target_os = "linux"), miri))]
pub(super) use std::sync::{Mutex as Lock, MutexGuard as Guard};

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use self::system::{Guard, Lock};

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use core::{
        cell::UnsafeCell,
        ffi::{c_int, c_long},
        marker::PhantomData,
        ops::{Deref, DerefMut},
    };

    /// At least as large and as aligned as the C library's. A mutex of zeros is unlocked.
    type Mutex = [c_long; 12];

    unsafe extern "C" {
        fn pthread_mutex_lock(mutex: *mut Mutex) -> c_int;
        fn pthread_mutex_trylock(mutex: *mut Mutex) -> c_int;
        fn pthread_mutex_unlock(mutex: *mut Mutex) -> c_int;
    }

    /// The calls and errors are those of `std::sync::Mutex`, without poisoning.
    pub(in super::super) struct Lock<T> {
        mutex: UnsafeCell<Mutex>,
        value: UnsafeCell<T>,
    }

    // SAFETY: one guard at a time gives access to the value, in any thread.
    unsafe impl<T: Send> Sync for Lock<T> {}

    /// Keeps the lock until dropped, by the thread that took it.
    pub(in super::super) struct Guard<'l, T>(&'l Lock<T>, PhantomData<*mut ()>);

    impl<T> Lock<T> {
        /// For statics only: the mutex must not move.
        pub(in super::super) const fn new(value: T) -> Self {
            Lock { mutex: UnsafeCell::new([0; 12]), value: UnsafeCell::new(value) }
        }

        /// Waits for the lock.
        pub(in super::super) fn lock(&self) -> Result<Guard<'_, T>, ()> {
            // SAFETY: the mutex is initialised and used by these three functions only.
            if unsafe { pthread_mutex_lock(self.mutex.get()) } == 0 {
                Ok(Guard(self, PhantomData))
            } else {
                Err(())
            }
        }

        /// Fails if another guard exists.
        pub(in super::super) fn try_lock(&self) -> Result<Guard<'_, T>, ()> {
            // SAFETY: the mutex is initialised and used by these three functions only.
            if unsafe { pthread_mutex_trylock(self.mutex.get()) } == 0 {
                Ok(Guard(self, PhantomData))
            } else {
                Err(())
            }
        }
    }

    impl<T> Deref for Guard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            // SAFETY: this guard has the lock, so no other gives access.
            unsafe { &*self.0.value.get() }
        }
    }

    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: this guard has the lock, so no other gives access, and it is borrowed
            // exclusively.
            unsafe { &mut *self.0.value.get() }
        }
    }

    impl<T> Drop for Guard<'_, T> {
        fn drop(&mut self) {
            // SAFETY: this guard locked the mutex, in this thread, because a guard is not `Send`.
            unsafe { pthread_mutex_unlock(self.0.mutex.get()) };
        }
    }
}
