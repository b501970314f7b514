//! Where scopes were opened and closed, for the messages of the header's checks.
//!
//! A thread remembers the last opening and closing of the owners that it used last: arenas and parent
//! scopes, by their address. Names of files are copied, because a library that is unloaded takes its
//! own with it. Without `std`, nothing is remembered.

use core::{
    ffi::{c_char, c_uint, c_void},
    ptr,
};

/// The lines at which the last scope of an owner was opened and closed. A file is null if its line is
/// unknown. The names are valid until the thread opens or closes another scope.
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
    use super::ebb_places_;
    use core::{
        cell::Cell,
        ffi::{CStr, c_char, c_uint, c_void},
        ptr,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };

    /// The number of owners that a thread remembers. All are compared with at each opening and
    /// closing.
    const REMEMBERED: usize = 32;

    /// The bytes of a file's name, with a 0 at the end. Of a longer name, the end is kept.
    const NAME: usize = 60;

    /// A line. Its name is empty if it is unknown.
    struct Line {
        file: Cell<[u8; NAME]>,
        number: Cell<c_uint>,
    }

    impl Line {
        const fn unknown() -> Line {
            Line { file: Cell::new([0; NAME]), number: Cell::new(0) }
        }

        fn forget(&self) {
            self.file.set([0; NAME]);
        }

        /// # Safety
        ///
        /// `file` is null or points to a string that ends with a 0.
        unsafe fn set(&self, file: *const c_char, number: c_uint) {
            if file.is_null() {
                return self.forget();
            }
            // SAFETY: not null, so by this function's contract it points to a string that ends with
            // a 0, which nobody changes during the call.
            let name = unsafe { CStr::from_ptr(file) }.to_bytes();
            let cut = name.len().saturating_sub(NAME - 1);
            let mut copy = [0; NAME];
            // No indices: code that could panic would make the library four times as large.
            for (to, from) in copy.iter_mut().zip(name.iter().skip(cut)) {
                *to = *from;
            }
            if cut > 0 {
                copy.iter_mut().take(3).for_each(|dot| *dot = b'.');
            }
            self.file.set(copy);
            self.number.set(number);
        }

        /// The name and the number; null if they are unknown.
        fn read(&self) -> (*const c_char, c_uint) {
            let is_known = self.file.get()[0] != 0;
            let file = if is_known { self.file.as_ptr().cast_const().cast() } else { ptr::null() };
            (file, self.number.get())
        }
    }

    struct Place {
        owner: Cell<*const c_void>,
        /// The number of the last opening.
        opening: Cell<usize>,
        opened: Line,
        closed: Line,
    }

    impl Place {
        const fn unknown() -> Place {
            let (opened, closed) = (Line::unknown(), Line::unknown());
            Place { owner: Cell::new(ptr::null()), opening: Cell::new(0), opened, closed }
        }

        fn read(&self) -> ebb_places_ {
            let (opened_file, opened_line) = self.opened.read();
            let (closed_file, closed_line) = self.closed.read();
            let owner = self.owner.get();
            ebb_places_ { owner, opened_file, closed_file, opened_line, closed_line }
        }
    }

    /// The openings of all threads, so that those of one thread have numbers that another can
    /// compare.
    static OPENINGS: AtomicUsize = AtomicUsize::new(0);

    thread_local! {
        static PLACES: [Place; REMEMBERED] = const { [const { Place::unknown() }; REMEMBERED] };
        /// The place of the next new owner.
        static NEXT: Cell<usize> = const { Cell::new(0) };
    }

    /// Calls `f` with the place of an owner or, if it has none, with the one that was taken longest ago.
    fn with(owner: *const c_void, f: impl FnOnce(&Place)) {
        // The variables have no destructors, so they exist as long as their thread.
        let _ = PLACES.try_with(|places| {
            if let Some(known) = places.iter().find(|place| place.owner.get() == owner) {
                return f(known);
            }
            let next = NEXT.try_with(|next| next.replace((next.get() + 1) % REMEMBERED));
            f(&places[next.unwrap_or(0) % REMEMBERED]);
        });
    }
    /// # Safety
    ///
    /// `file` is null or points to a string that ends with a 0.
    pub(super) unsafe fn open(owner: *const c_void, file: *const c_char, number: c_uint) {
        with(owner, |place| {
            place.owner.set(owner);
            place.opening.set(OPENINGS.fetch_add(1, Relaxed).wrapping_add(1));
            place.closed.forget();
            // SAFETY: by this function's contract, `file` is null or a string that ends with a 0.
            unsafe { place.opened.set(file, number) };
        });
    }

    /// # Safety
    ///
    /// `file` is null or points to a string that ends with a 0.
    pub(super) unsafe fn close(owner: *const c_void, file: *const c_char, number: c_uint) {
        with(owner, |place| {
            if place.owner.get() == owner {
                // SAFETY: by this function's contract, `file` is null or a string that ends with a
                // 0.
                unsafe { place.closed.set(file, number) };
            }
        });
    }

    pub(super) fn of(owner: *const c_void) -> Option<ebb_places_> {
        let mut found = None;
        with(owner, |place| found = Some(place.read()));
        found.filter(|places| places.owner == owner && !owner.is_null())
    }

    pub(super) fn openings() -> usize {
        OPENINGS.load(Relaxed)
    }

    pub(super) fn is_opened_since(owner: *const c_void, openings: usize) -> bool {
        let mut is_later = false;
        with(owner, |place| {
            // Numbers may wrap.
            let later = place.opening.get().wrapping_sub(openings) as isize > 0;
            is_later = later && place.owner.get() == owner && !owner.is_null();
        });
        is_later
    }
}

#[cfg(not(feature = "std"))]
mod table {
    use super::ebb_places_;
    use core::ffi::{c_char, c_uint, c_void};

    pub(super) unsafe fn open(_owner: *const c_void, _file: *const c_char, _number: c_uint) {}

    pub(super) unsafe fn close(_owner: *const c_void, _file: *const c_char, _number: c_uint) {}

    pub(super) fn of(_owner: *const c_void) -> Option<ebb_places_> {
        None
    }

    pub(super) fn openings() -> usize {
        0
    }

    pub(super) fn is_opened_since(_owner: *const c_void, _openings: usize) -> bool {
        false
    }
}

/// Remembers where a scope of an owner was opened. For the header, with checks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_opened_(owner: *const c_void, file: *const c_char, line: c_uint) {
    // SAFETY: null or a string, by the rules for every function.
    unsafe { table::open(owner, file, line) }
}

/// Remembers where the scope of an owner was closed. For the header, with checks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_closed_(owner: *const c_void, file: *const c_char, line: c_uint) {
    // SAFETY: null or a string, by the rules for every function.
    unsafe { table::close(owner, file, line) }
}

/// Where the last scope of an owner was opened and closed, as far as this thread remembers. For the
/// header, with checks.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_places_of_(owner: *const c_void) -> ebb_places_ {
    table::of(owner).unwrap_or(UNKNOWN)
}

/// The number of scopes that were opened by code with checks. For the header, with checks.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_openings_() -> usize {
    table::openings()
}

/// Whether this thread knows that a scope of an owner was opened after so many scopes. For the
/// header, with checks.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_opened_since_(owner: *const c_void, openings: usize) -> bool {
    table::is_opened_since(owner, openings)
}
