//! What each thread has of its own. It is in the thread's static block, so that its address is one
//! load, and no access allocates.

use core::{arch::asm, cell::Cell};
use ebbtide_global::engine::Owner;

/// The most calls that have scopes, one in another. Deeper ones have none of their own.
pub(crate) const DEEPEST: usize = 32;

/// A call that has a scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// The address of its frame.
    pub(crate) frame: usize,
    /// The number of its scope's ticket; 0 if no scope could be opened.
    pub(crate) ticket: u64,
}

/// The words of a thread. All are 0 in a new thread.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Local {
    /// Serves the thread's blocks. All-zero bytes are an owner that is not started.
    pub(crate) owner: Owner,
    /// The open calls; the innermost is the last of `depth`.
    pub(crate) open: [Cell<Open>; DEEPEST],
    pub(crate) depth: Cell<usize>,
    /// The calls that are not in the report yet, and those that are.
    pub(crate) calls: Cell<u64>,
    pub(crate) reported: Cell<u64>,
    /// A page of the stack that can be read.
    pub(crate) readable: Cell<usize>,
}

core::arch::global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".balign 64",
    ".globl ebbtide_trial_local",
    ".hidden ebbtide_trial_local",
    ".type ebbtide_trial_local,@object",
    ".size ebbtide_trial_local,{size}",
    "ebbtide_trial_local: .zero {size}",
    ".popsection",
    size = const size_of::<Local>(),
);

const _: () = assert!(align_of::<Local>() <= 64);

/// The words of the calling thread.
#[inline(always)]
pub(crate) fn local() -> &'static Local {
    let address: *const Local;
    // SAFETY: computes the address of a thread-local variable in the static block. The library is
    // loaded with the program, so the block has room for it.
    unsafe {
        asm!(
            "mov {address}, qword ptr [rip + ebbtide_trial_local@gottpoff]",
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(pure, nomem, nostack),
        );
    }
    // SAFETY: the variable has the size and the alignment of `Local`, all-zero bytes are valid, only
    // this thread accesses it, and it lives until the thread's last instruction.
    unsafe { &*address }
}
