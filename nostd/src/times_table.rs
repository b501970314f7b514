//! `times_table 12 7` prints the products of 1 to 12 with 1 to 7. The table is in an arena over C's
//! heap, with a custom backing.

#![no_std]
#![no_main]

mod runtime;

use core::alloc::Layout;
use core::ffi::{c_char, c_int, c_void};
use core::fmt::Write;
use core::mem::align_of;
use core::ptr::NonNull;
use ebbtide::{AllocError, Arena, Backing};
use runtime::{Failure, Output};

#[link(name = "c")]
unsafe extern "C" {
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

/// C's heap.
struct Malloc;

// SAFETY: blocks come from C's heap: they are disjoint, do not move until they are freed, and may
// be freed by any thread; `release` does not unwind.
unsafe impl Backing for Malloc {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        // Some systems require an alignment of at least that of a pointer, and a size that is a
        // multiple of it.
        let layout = layout.align_to(align_of::<*mut c_void>()).map_err(|_| AllocError)?;
        let layout = layout.pad_to_align();
        // SAFETY: the alignment is a power of two, and the size a multiple of it.
        let block = unsafe { aligned_alloc(layout.align(), layout.size()) };
        let block = NonNull::new(block.cast::<u8>()).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    unsafe fn release(&self, block: NonNull<u8>, _layout: Layout) {
        // SAFETY: the caller releases a block from `allocate`, once.
        unsafe { free(block.as_ptr().cast()) }
    }
}

fn times_table(rows: usize, columns: usize) -> Result<(), Failure> {
    const TOO_LARGE: Failure = Failure::Refused("times_table: that table does not fit in memory");
    if columns == 0 {
        return Ok(());
    }
    let mut arena = Arena::new_in(Malloc);
    let scope = arena.try_scope().map_err(|_| TOO_LARGE)?;
    let cells = rows.checked_mul(columns).ok_or(TOO_LARGE)?;
    let table: &mut [usize] = scope
        .try_alloc_slice_fill_with(cells, |cell| (cell / columns + 1) * (cell % columns + 1))
        .map_err(|_| TOO_LARGE)?;
    for row in table.chunks_exact(columns) {
        let mut separator = "";
        for product in row {
            write!(Output::Stdout, "{separator}{product}")?;
            separator = "\t";
        }
        writeln!(Output::Stdout)?;
    }
    Ok(())
}

/// Called by the C runtime.
#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: they are the arguments of `main`.
    let result = match unsafe { runtime::counts(argc, argv) } {
        Some([rows, columns]) => times_table(rows, columns),
        None => Err(Failure::Usage("usage: times_table ROWS COLUMNS")),
    };
    runtime::exit_code(result)
}
