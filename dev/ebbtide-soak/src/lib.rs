//! Programs that keep, share, shrink and hand over memory. They check the promise of the
//! transparent allocator: its memory stays within a small factor of the live bytes, whatever a
//! program does.
//!
//! ```text
//! cargo run --release --package ebbtide-soak                      # the table
//! cargo run --release --package ebbtide-soak -- --check           # fails if a program exceeds a limit
//! cargo run --release --package ebbtide-soak -- --only LRU        # programs whose name contains it
//! cargo run --release --package ebbtide-soak -- --scale 10        # ten times as many steps
//! cargo run --release --package ebbtide-soak -- --run NAME [off]  # one program in this process
//! ```
//!
//! [`random`] draws other programs from seeds, and compares their processor time as well.
//!
//! Each program runs in two processes: with scopes over `Scoped<System>`, and with scopes switched
//! off, so that the same binary only uses `System`. Both must return the same answer. [`verdict`]
//! has the limits; `--check` enforces them.
//!
//! A program is one function. After each unit of its work it calls [`meter::step`], which samples
//! the allocator's report and separates the first half of the run from the second; `each_step` and
//! `in_scopes` in [`programs`] do so for most programs. To add a program, write it in the file of
//! its kind there and add a row.
#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    reason = "a program that cannot continue ends its process, and fails"
)]

pub mod inputs;
pub mod meter;
pub mod process;
pub mod programs;
pub mod random;
pub mod scopes;
pub mod verdict;
