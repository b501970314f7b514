//! Records some of a program's blocks: where each is born, how large it is, and which of the
//! functions on the stack then are still running when it is freed.
//!
//! # Who calls whom
//!
//! ```text
//! malloc ─► hooks: raises the thread's high-water mark of the stack, counts down
//!            ├─ not 0 ─► the C library
//!            └─ 0 ─► born ─► stacks (unwinds) ─► slots (a block of its own) ─► journal
//! free ───► hooks: the same ─┬─ not in the range of `slots` ─► the C library
//!                            └─ else ─► dies ─► stacks (which callers stand still) ─► journal
//! ```
//!
//! One block in N is recorded, at random, with N as its weight; `rate` raises N while recording
//! takes more than its share of the time. So every sum over recorded blocks, multiplied by their
//! weights, is an unbiased estimate of the sum over all blocks.
//!
//! # Invariants
//!
//! - **S1** Only the thread that holds the lock of the [`State`](state::State) accesses it. A thread
//!   that runs code of the recorder is *busy*, and its own requests meanwhile go to the C library.
//!   So the lock is never taken twice by one thread.
//! - **S2** A block lies in the range of `slots` if and only if it was recorded when it was born. Its
//!   slot begins with a [`Slot`](slots::Slot), which is valid until the block is freed.
//! - **S3** A process writes into a record that it has begun itself. After `fork`, a child begins one before
//!   its first recorded block; a copy of the process that the C library does not know of records nothing.
//!   Blocks of the range stay valid, and can be freed; the number of a block tells whether it is in the
//!   record of a parent.

pub(crate) mod events;
pub(crate) mod hooks;
pub(crate) mod journal;
pub(crate) mod loaded;
pub(crate) mod local;
pub(crate) mod mode;
pub(crate) mod process;
pub(crate) mod rate;
pub(crate) mod slots;
pub(crate) mod stacks;
pub(crate) mod state;
