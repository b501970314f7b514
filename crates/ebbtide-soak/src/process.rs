//! What the system says of this process.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
};

/// Figures of `/proc/self/status`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    /// The most resident memory since [`forget_peak`], or since the process began.
    pub peak_kib: u64,
    /// The resident memory now.
    pub resident_kib: u64,
    /// The threads now.
    pub threads: u64,
}

/// Reads the process's figures. All are 0 if the system does not give them. Does not allocate, so that
/// a program may be measured at any point of its work.
pub fn status() -> Status {
    let mut bytes = [0; 4096];
    let read = File::open("/proc/self/status").and_then(|mut file| file.read(&mut bytes));
    let text = std::str::from_utf8(&bytes[..read.unwrap_or(0)]).unwrap_or("");
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    Status { peak_kib: field("VmHWM:"), resident_kib: field("VmRSS:"), threads: field("Threads:") }
}

/// Starts a new peak of resident memory from what is resident now. Returns whether it could. Does not allocate.
pub fn forget_peak() -> bool {
    let file = OpenOptions::new().write(true).open("/proc/self/clear_refs");
    file.and_then(|mut file| file.write_all(b"5")).is_ok()
}

/// Runs `f` in a child of this process, and returns what it gave, which must be below 256. Only for
/// processes with one thread: a child of any other may do little.
pub fn in_child(f: impl FnOnce() -> u64) -> u64 {
    // SAFETY: the process has one thread, so the child has all that this one has.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "a child can be forked");
    if child == 0 {
        let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(254);
        // SAFETY: ends the child, and runs nothing that belongs to the parent.
        unsafe { libc::_exit(i32::try_from(status).unwrap_or(253)) };
    }
    let mut status = 0;
    // SAFETY: the child is this process's own, and the pointer is to an integer of this frame.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert!(ended == child && libc::WIFEXITED(status), "the child ends by itself");
    u64::from(libc::WEXITSTATUS(status).unsigned_abs())
}

/// A mapping of this process.
struct Mapping {
    low: usize,
    high: usize,
    /// Its owner wants no huge pages.
    refuses: bool,
}

impl Mapping {
    /// All mappings, ascending.
    fn all() -> Vec<Mapping> {
        let text = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let mut mappings: Vec<Mapping> = Vec::new();
        for line in text.lines() {
            if let Some(flags) = line.strip_prefix("VmFlags:") {
                if let Some(last) = mappings.last_mut() {
                    last.refuses = flags.split(' ').any(|flag| flag == "nh");
                }
            } else if let Some((low, high)) = bounds(line) {
                mappings.push(Mapping { low, high, refuses: false });
            }
        }
        mappings
    }
}

/// The addresses that the first line of a mapping begins with.
fn bounds(line: &str) -> Option<(usize, usize)> {
    let (low, high) = line.split(' ').next()?.split_once('-')?;
    let parse = |text| usize::from_str_radix(text, 16).ok();
    parse(low).zip(parse(high))
}

/// Asks for huge pages in the mapping around `address` and in those adjacent to it, except where
/// their owner refused them. Stands in for a system that always gives huge pages.
pub fn want_huge_pages(address: usize) {
    let mappings = Mapping::all();
    // The committed and the reserved parts of one range are adjacent.
    let mut ranges = mappings.chunk_by(|one, next| one.high == next.low);
    let holds = |mapping: &Mapping| (mapping.low..mapping.high).contains(&address);
    let range = ranges.find(|range| range.iter().any(holds)).unwrap_or(&[]);
    for &Mapping { low, high, .. } in range.iter().filter(|mapping| !mapping.refuses) {
        // SAFETY: the advice changes no contents, whoever uses the mapping, and fails if it is gone.
        unsafe { libc::madvise(low as *mut libc::c_void, high - low, libc::MADV_HUGEPAGE) };
    }
}
