//! A replacement for parts of std, on libc: arguments, output, and a panic handler.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::slice;

#[link(name = "c")]
unsafe extern "C" {
    fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
    fn abort() -> !;
}

/// Why a program fails.
pub(crate) enum Failure {
    /// Invalid arguments: exit code 2.
    Usage(&'static str),
    /// The request cannot be met: exit code 1.
    Refused(&'static str),
}

impl From<fmt::Error> for Failure {
    fn from(_: fmt::Error) -> Self {
        Failure::Refused("cannot write to standard output")
    }
}

/// Reports a failure on standard error and returns the exit code.
pub(crate) fn exit_code(result: Result<(), Failure>) -> c_int {
    let (message, code) = match result {
        Ok(()) => return 0,
        Err(Failure::Usage(message)) => (message, 2),
        Err(Failure::Refused(message)) => (message, 1),
    };
    // If writing fails, the exit code still reports the failure.
    let _ = writeln!(Output::Stderr, "{message}");
    code
}

/// Parses the arguments after the program's name as counts.
///
/// `None` unless there are exactly `N` of them, each a decimal `usize`.
///
/// # Safety
///
/// `argc` and `argv` must be those that the C runtime gave to `main`.
pub(crate) unsafe fn counts<const N: usize>(
    argc: c_int,
    argv: *const *const c_char,
) -> Option<[usize; N]> {
    if usize::try_from(argc) != Ok(N + 1) {
        return None;
    }
    // SAFETY: `argv` has `argc` elements, which is `N + 1`, and nothing changes them.
    let arguments = unsafe { slice::from_raw_parts(argv, N + 1) };
    let mut counts = [0; N];
    for (count, &argument) in counts.iter_mut().zip(&arguments[1..]) {
        // SAFETY: an argument is a C string that nothing changes.
        let argument = unsafe { CStr::from_ptr(argument) };
        *count = argument.to_str().ok()?.parse().ok()?;
    }
    Some(counts)
}

/// A standard stream, unbuffered.
#[derive(Clone, Copy)]
pub(crate) enum Output {
    Stdout = 1,
    Stderr = 2,
}

impl Write for Output {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        while !text.is_empty() {
            // SAFETY: the pointer and the length are those of `text`, which `write` only reads.
            let written = unsafe { write(*self as c_int, text.as_ptr().cast(), text.len()) };
            let written = usize::try_from(written).map_err(|_| fmt::Error)?;
            text = text.get(written..).ok_or(fmt::Error)?;
        }
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Output::Stderr, "{info}");
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

/// Referenced by the compiled `core`, which supports unwinding. Never called here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}
