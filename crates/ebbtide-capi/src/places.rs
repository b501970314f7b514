//! Where scopes were opened and closed, for the messages of the header's checks.
//!
//! A thread remembers the last opening and closing of the owners that it used last: arenas and parent
//! scopes, by their address. Without `std`, nothing is remembered.

use core::{
    ffi::{c_char, c_uint, c_void},
    ptr,
};

/// The lines at which the last scope of an owner was opened and closed. A file is null if its line is
/// unknown.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ebb_places_ {
    owner: *const c_void,
    opened_file: *const c_char,
    closed_file: *const c_char,
    opened_line: c_uint,
    closed_line: c_uint,
}

const UNKNOWN: ebb_places_ = ebb_places_ {
    owner: ptr::null(),
    opened_file: ptr::null(),
    closed_file: ptr::null(),
    opened_line: 0,
    closed_line: 0,
};

#[cfg(feature = "std")]
mod table {
    use super::{UNKNOWN, ebb_places_};
    use core::{cell::Cell, ffi::c_void};

    /// The number of owners that a thread remembers. All are compared with at each opening and
    /// closing.
    const REMEMBERED: usize = 64;

    thread_local! {
        static PLACES: [Cell<ebb_places_>; REMEMBERED] =
            const { [const { Cell::new(UNKNOWN) }; REMEMBERED] };
        /// The place of the next new owner.
        static NEXT: Cell<usize> = const { Cell::new(0) };
    }

    /// Calls `f` with the place of an owner or, if it has none, with the one that was taken longest ago.
    pub(super) fn with(owner: *const c_void, f: impl FnOnce(&Cell<ebb_places_>)) {
        // The variables have no destructors, so they exist as long as their thread.
        let _ = PLACES.try_with(|places| {
            if let Some(known) = places.iter().find(|place| place.get().owner == owner) {
                return f(known);
            }
            let next = NEXT.try_with(|next| next.replace((next.get() + 1) % REMEMBERED));
            f(&places[next.unwrap_or(0) % REMEMBERED]);
        });
    }
}

#[cfg(not(feature = "std"))]
mod table {
    use super::ebb_places_;
    use core::{cell::Cell, ffi::c_void};

    pub(super) fn with(_owner: *const c_void, _f: impl FnOnce(&Cell<ebb_places_>)) {}
}

/// Remembers where a scope of an owner was opened. For the header, with checks.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_opened_(owner: *const c_void, file: *const c_char, line: c_uint) {
    let opened = ebb_places_ { owner, opened_file: file, opened_line: line, ..UNKNOWN };
    table::with(owner, |place| place.set(opened));
}

/// Remembers where the scope of an owner was closed. For the header, with checks.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_closed_(owner: *const c_void, file: *const c_char, line: c_uint) {
    table::with(owner, |place| {
        let closed = ebb_places_ { closed_file: file, closed_line: line, ..place.get() };
        if closed.owner == owner {
            place.set(closed);
        }
    });
}

/// Where the last scope of an owner was opened and closed, as far as this thread remembers. For the
/// header, with checks.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_places_of_(owner: *const c_void) -> ebb_places_ {
    let mut found = UNKNOWN;
    table::with(owner, |place| found = place.get());
    if found.owner == owner && !owner.is_null() { found } else { UNKNOWN }
}
