//! Figures that the system reports about this process.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    mem::MaybeUninit,
    time::Duration,
};

/// Figures of `/proc/self/status`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    /// The peak of the resident memory since [`forget_peak`], or since the process started.
    pub peak_kib: u64,
    /// The resident memory now.
    pub resident_kib: u64,
    /// The number of threads now.
    pub threads: u64,
}

/// Reads the process's figures. All are 0 if the system does not provide them. Does not allocate,
/// so a program can be measured at any point of its work.
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

/// Resets the peak of the resident memory to its current size. Returns whether that succeeded. Does
/// not allocate.
pub fn forget_peak() -> bool {
    let file = OpenOptions::new().write(true).open("/proc/self/clear_refs");
    file.and_then(|mut file| file.write_all(b"5")).is_ok()
}

/// The processor time that all threads of this process used so far, in the system too.
pub fn processor_time() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for a write of one `rusage`.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    assert_eq!(failed, 0, "the process can ask for its own use");
    // SAFETY: all-zero bytes are a valid `rusage`, which consists of integers, and the call wrote
    // another one.
    let usage = unsafe { usage.assume_init() };
    let duration = |time: libc::timeval| {
        let (seconds, micros) = (time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs());
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

/// Runs `f` in a forked child, and returns its result, which must be below 256. Only for processes
/// with one thread of their own: the child of any other process may call few functions. The helper
/// thread of warm blocks ends with a fork, and holds no lock meanwhile.
pub fn in_child(f: impl FnOnce() -> u64) -> u64 {
    // SAFETY: the process has one thread and perhaps that of warm blocks, which holds only the lock
    // of the heap, which the C library handles, and its own, for which the library has a handler. So
    // no other thread holds a lock in the child.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "a child can be forked");
    if child == 0 {
        let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(254);
        // SAFETY: `_exit` ends the child and runs no destructor or exit handler of the parent.
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
    /// Whether its owner refused huge pages.
    refuses: bool,
}

impl Mapping {
    /// All mappings, by ascending address.
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

/// The range of addresses at the start of a mapping's first line.
fn bounds(line: &str) -> Option<(usize, usize)> {
    let (low, high) = line.split(' ').next()?.split_once('-')?;
    let parse = |text| usize::from_str_radix(text, 16).ok();
    parse(low).zip(parse(high))
}

/// Asks for huge pages in the mapping around `address` and in those adjacent to it, except where
/// their owner refused them. Simulates a system that always uses huge pages.
pub fn want_huge_pages(address: usize) {
    let mappings = Mapping::all();
    // The committed and the reserved parts of one range are adjacent.
    let mut ranges = mappings.chunk_by(|one, next| one.high == next.low);
    let holds = |mapping: &Mapping| (mapping.low..mapping.high).contains(&address);
    let range = ranges.find(|range| range.iter().any(holds)).unwrap_or(&[]);
    for &Mapping { low, high, .. } in range.iter().filter(|mapping| !mapping.refuses) {
        // SAFETY: the advice does not change the contents of a mapping, whatever it is used for,
        // and fails if the mapping is gone.
        unsafe { libc::madvise(low as *mut libc::c_void, high - low, libc::MADV_HUGEPAGE) };
    }
}
