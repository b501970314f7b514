//! Status codes, their texts, and how a call records one.

use crate::last;
use core::ffi::{CStr, c_char, c_int, c_uint};

/// The result of a call. The numbers are part of the interface.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ebb_status {
    /// It succeeded.
    EBB_OK = 0,
    /// The backing, the limit or the buffer has no room for the request.
    EBB_NO_MEMORY = 1,
    /// A size exceeds half of the address space, or a product or sum of sizes does.
    EBB_SIZE = 2,
    /// An alignment is not a power of two, or a block is not aligned as it must be.
    EBB_ALIGNMENT = 3,
    /// A pointer is null where a value is needed.
    EBB_NULL = 4,
    /// The scope is closed.
    EBB_CLOSED = 5,
    /// The arena has an open scope.
    EBB_OPEN = 6,
    /// The format or one of its values cannot be printed.
    EBB_FORMAT = 7,
    /// A struct is of another version of the interface, or its options contradict each other.
    EBB_OPTIONS = 8,
    /// The scope is one of Rust's, which would not run a deferred function.
    EBB_LENT = 9,
}

use ebb_status::{
    EBB_ALIGNMENT, EBB_CLOSED, EBB_FORMAT, EBB_LENT, EBB_NO_MEMORY, EBB_NULL, EBB_OK, EBB_OPEN,
    EBB_OPTIONS, EBB_SIZE,
};

const TEXTS: [(ebb_status, &CStr); 10] = [
    (EBB_OK, c"success"),
    (EBB_NO_MEMORY, c"the backing, the limit or the buffer has no room for the request"),
    (EBB_SIZE, c"the size is too large"),
    (EBB_ALIGNMENT, c"the alignment is not a power of two, or the block is not aligned"),
    (EBB_NULL, c"a pointer is null"),
    (EBB_CLOSED, c"the scope is closed"),
    (EBB_OPEN, c"the arena has an open scope"),
    (EBB_FORMAT, c"the format cannot be printed"),
    (EBB_OPTIONS, c"a struct is of another version, or its options contradict each other"),
    (EBB_LENT, c"the scope belongs to Rust, which does not run deferred functions"),
];

/// How many there are. Their numbers are below that.
pub(crate) const COUNT: usize = TEXTS.len();

/// The status of this number.
pub(crate) fn of_number(number: usize) -> Option<ebb_status> {
    TEXTS.iter().map(|&(status, _)| status).find(|&status| status as usize == number)
}

/// Records why a call failed, and returns it.
pub(crate) fn fail(status: ebb_status) -> ebb_status {
    last::set(status as usize);
    status
}

/// Records why a call failed, and returns null.
pub(crate) fn fail_null<T>(status: ebb_status) -> *mut T {
    fail(status);
    core::ptr::null_mut()
}

/// The reason for this thread's last failed call. A successful call does not change it.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_last_status() -> ebb_status {
    of_number(last::get()).unwrap_or(EBB_OK)
}

/// The text of a status, for a message; never null. It takes a number, so that a status of a later
/// version can be passed too.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_status_text(status: c_uint) -> *const c_char {
    let text = TEXTS.iter().find(|(known, _)| *known as c_uint == status);
    text.map_or(c"an unknown status", |(_, text)| text).as_ptr()
}

/// Records why a function of the header failed.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_fail_(status: c_int) {
    if let Some(known) = usize::try_from(status).ok().and_then(of_number) {
        fail(known);
    }
}
