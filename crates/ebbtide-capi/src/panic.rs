//! A panic handler for the library without `std`. No function of the library panics, but the
//! compiler requires one.

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
