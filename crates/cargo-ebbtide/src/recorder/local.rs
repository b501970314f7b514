//! What each thread has of its own. It is in the thread's static block, so that its address is one
//! load, and no access allocates.

use crate::sys;
use core::{arch::asm, cell::Cell, ffi::c_int};

/// What is done with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Due {
    /// It is recorded.
    Birth = 0,
    /// It tells which calls of the recorded one have ended.
    Next = 1,
    /// Nothing: the same instructions run as for the next one, which is timed.
    Warm = 2,
    /// The C library is timed. Not directly after recording, which empties the processor's caches.
    Time = 3,
}

/// The words of a thread. All are 0 in a new thread.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Local {
    /// The shallowest position of the stack since the thread's last entry in the record.
    pub high: Cell<usize>,
    /// The number of blocks until the next one that is recorded. Negative: this one.
    pub countdown: Cell<i64>,
    /// Whether the next free is timed.
    pub times_free: Cell<bool>,
    /// The recorder is running in this thread (S1).
    pub is_busy: Cell<bool>,
    /// The thread has the lock, because it forks.
    pub is_forking: Cell<bool>,
    /// What the block is for with which the countdown ends.
    pub due: Cell<Due>,
    /// The next recorded block stands for this power of two.
    pub exponent: Cell<u32>,
    /// The blocks that are left from there to the next one that is recorded.
    pub left: Cell<i64>,
    /// The blocks from the recorded one to the one that tells of it.
    pub gap: Cell<i64>,
    /// The blocks from the recorded one to the next that is recorded.
    pub distance: Cell<i64>,
    /// The number of the thread, from 1; 0 before its first entry.
    pub thread: Cell<u32>,
    /// The cycle counter, modulo its size, when recording ended last.
    pub left_at: Cell<u32>,
    /// The state of the generator of random numbers.
    pub random: Cell<u64>,
}

core::arch::global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".balign 64",
    ".globl ebbtide_recorder_local",
    ".hidden ebbtide_recorder_local",
    ".type ebbtide_recorder_local,@object",
    ".size ebbtide_recorder_local,64",
    "ebbtide_recorder_local: .zero 64",
    ".popsection",
);

const _: () = assert!(size_of::<Local>() <= 64);

/// The words of the calling thread.
#[inline(always)]
pub(crate) fn local() -> &'static Local {
    let address: *const Local;
    // SAFETY: computes the address of a thread-local variable in the static block. The library is
    // loaded with the program, so the block has room for it.
    unsafe {
        asm!(
            "mov {address}, qword ptr [rip + ebbtide_recorder_local@gottpoff]",
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(pure, nomem, nostack),
        );
    }
    // SAFETY: the variable has the size and the alignment of `Local`, all-zero bytes are valid, only
    // this thread accesses it, and no reference outlives the call of the allocator in which it is
    // made.
    unsafe { &*address }
}

/// A countdown that does not end.
pub(crate) const NEVER: i64 = i64::MAX;

/// A thread that runs code of the recorder (S1).
pub(crate) struct Busy<'l> {
    pub(crate) local: &'l Local,
    pub(crate) countdown: i64,
    /// The number of the program's latest error, which `malloc` and `free` keep.
    errno: c_int,
}

impl<'l> Busy<'l> {
    /// `None` if the thread is busy already.
    pub(crate) fn enter(local: &'l Local) -> Option<Busy<'l>> {
        if local.is_busy.replace(true) {
            return None;
        }
        Some(Busy { local, countdown: local.countdown.replace(NEVER), errno: sys::errno() })
    }

    /// The number of blocks since the thread's latest recorded one.
    pub(crate) fn since_latest(&self) -> u64 {
        let Local { due, left, distance, .. } = self.local;
        let after = match due.get() {
            Due::Birth => 0,
            Due::Next | Due::Time => 1 + left.get(),
            Due::Warm => 2 + left.get(),
        };
        let distance = distance.get() - 1 - self.countdown - after;
        u64::try_from(distance).unwrap_or(0)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        sys::set_errno(self.errno);
        self.local.countdown.set(self.countdown);
        self.local.is_busy.set(false);
    }
}
