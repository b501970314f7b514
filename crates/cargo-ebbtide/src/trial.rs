//! Opens a scope at the beginning of a function of a program, and ends it when the function returns,
//! without a new build.
//!
//! # Who calls whom
//!
//! ```text
//! the loader ─► install: reads the entries, writes a new beginning of each function
//! a caller ─► the function ─► jump ─► stub ─► calls: wrapper ─► enter (opens a scope)
//!                                                     ├─► the function, from its first bytes on
//!                                                     └─► leave (ends the scope) ─► the caller
//! malloc, free ─► hooks ─┬─ a scope is open, or the block is of one ─► the engine
//!                        └─ else ─► the C library
//! ```
//!
//! The wrapper is a frame as any other, with a description for unwinders. An exception or a panic
//! that passes through it ends the scope. What a scope's blocks outlive is the engine's concern:
//! they stay valid until they are freed.
//!
//! # Invariants
//!
//! - **B1** A function gets a new beginning only if its first bytes are those that its entry expects,
//!   before the program's own code runs (its libraries may have begun, if they have started no
//!   thread), and all functions or none.
//! - **B2** The wrapper changes no register between the caller and the function, in either direction,
//!   but the frame pointer, which it restores; and it copies the arguments on the stack.
//! - **B3** An open call of a thread's list has ended if its frame is not above the frame of a call
//!   that begins or ends: `longjmp` leaves such calls.
//! - **B4** At every instruction of a stub, unwinders know where the caller's registers are: in its own
//!   instructions, as it leaves them; in the moved ones, as the function's description says. The
//!   descriptions lie behind the stub's code, and neither is ever unmapped.

pub(crate) mod calls;
pub mod entry;
pub(crate) mod hooks;
pub(crate) mod install;
pub(crate) mod local;
pub mod report;
