//! What must exist without `std`. No function of the library panics, but the compiler requires a
//! panic handler. No scope is one of a thread, but where the header cannot see that, it refers to the
//! function that closes one.

use crate::ebb_arena;
use core::panic::PanicInfo;

unsafe extern "C" {
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

/// Referenced by the compiled `core`, which supports unwinding. Never called here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

/// Never called.
#[unsafe(no_mangle)]
extern "C" fn ebb_thread_close_(_: *mut ebb_arena) {}
