//! What a trial tells the adviser, in a file that the processes of the program share.

use core::sync::atomic::AtomicU64;

/// The variable of the environment with the path of the file.
pub const REPORT: &str = "EBBTIDE_TRIAL_REPORT";

/// The bytes of the file, all of them 0 before the program starts.
pub const BYTES: usize = 4096;

/// The words of the file.
#[repr(C)]
#[derive(Debug)]
pub struct Report {
    /// The processes in which all functions have scopes.
    pub processes: AtomicU64,
    /// The calls of these functions. A thread adds its own when it ends, and when they are as many as
    /// it has added before, or [`CALLS_AT_ONCE`].
    pub calls: AtomicU64,
    /// Why a process was left as it is: a [`Refusal`].
    pub refusal: AtomicU64,
}

impl Report {
    /// What the bytes of a file say; zeros where they end.
    pub fn read(bytes: &[u8]) -> Report {
        let mut words =
            bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
        let mut next = || AtomicU64::new(words.next().unwrap_or(0));
        Report { processes: next(), calls: next(), refusal: next() }
    }
}

/// The most calls that a thread keeps to itself.
pub const CALLS_AT_ONCE: u64 = 256;

/// Why a function was not given a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Refusal {
    /// The bytes of the function are not those of its file.
    OtherBytes = 1,
    /// No memory is free near the function.
    NoRoom = 2,
    /// The system does not let code be changed.
    Protected = 3,
    /// The process has several threads already.
    Threads = 4,
}

impl Refusal {
    /// The refusal of a number of the report; `None` for 0.
    pub fn from_number(number: u64) -> Option<Refusal> {
        [Refusal::OtherBytes, Refusal::NoRoom, Refusal::Protected, Refusal::Threads]
            .into_iter()
            .find(|refusal| *refusal as u64 == number)
    }
}
