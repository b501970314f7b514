//! The file of a record, written through a window of memory, so that it is complete up to the last
//! entry even if the program is killed.

use super::rate;
use crate::record::{HEADER, MAGIC, VERSION, header, kind};
use crate::sys;
use core::{
    ffi::{CStr, c_int, c_long, c_void},
    ptr,
};
use std::{
    ffi::CString,
    os::unix::ffi::OsStringExt,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// The bytes of the file that are mapped at once.
const WINDOW: usize = 1 << 17;

/// The longest record in bytes.
const MOST: usize = 1 << 30;

/// Code that is mapped, and the module that it belongs to.
#[derive(Debug)]
pub(crate) struct Code {
    pub base: usize,
    pub start: usize,
    pub end: usize,
    pub path: Vec<u8>,
}

/// A record that is being written.
///
/// The file is open only while it grows: a program may close all files, or count them.
#[derive(Debug)]
pub(crate) struct Journal {
    path: CString,
    head: *mut u64,
    window: *mut u64,
    /// The bytes of the file before the window, and in the window.
    before: usize,
    len: usize,
    /// The time that the process took when it was last asked for, and the time of day then, in nanoseconds.
    taken: u64,
    taken_at: u64,
}

// SAFETY: the mappings belong to whoever has the lock of the state (S1), in any thread.
unsafe impl Send for Journal {}

/// The file of a record, open. These are calls of the system and not of the C library, which may end
/// the thread in them (`pthread_cancel`).
struct Open(c_int);

impl Open {
    /// `None` if the file is not there any more, or this process may not open it; if it is to be new, also
    /// if it is there.
    fn new(path: &CStr, is_new: bool) -> Option<Open> {
        let more = if is_new { sys::O_CREAT | sys::O_EXCL } else { 0 };
        let flags = c_long::from(sys::O_RDWR | sys::O_CLOEXEC | sys::O_NOFOLLOW | more);
        // SAFETY: `open` reads a text, which ends with a zero.
        let file = unsafe { sys::syscall(sys::SYS_OPEN, path.as_ptr(), flags, 0o600 as c_long) };
        c_int::try_from(file).ok().filter(|file| *file >= 0).map(Open)
    }

    /// Makes the file at least this long, and the part of it from `at` on writable for certain: a
    /// mapping of a file without room ends the program at the first access.
    fn grow(&self, at: usize, len: usize) -> Option<()> {
        // A process that exceeds its limit gets a signal.
        if len as u64 > sys::limit(sys::RLIMIT_FSIZE) {
            return None;
        }
        let (at, bytes) = (c_long::try_from(at).ok()?, c_long::try_from(len - at).ok()?);
        let (file, any) = (c_long::from(self.0), 0 as c_long);
        loop {
            // SAFETY: has no preconditions; the file is the record, and only gets room that it did
            // not have.
            if unsafe { sys::syscall(sys::SYS_FALLOCATE, file, any, at, bytes) } == 0 {
                return Some(());
            }
            match sys::errno() {
                sys::EINTR => {}
                sys::EOPNOTSUPP | sys::ENOSYS => break,
                _ => return None,
            }
        }
        // SAFETY: has no preconditions; the file is the record, and only grows, because `at +
        // bytes` is no less than the end of any window.
        (unsafe { sys::syscall(sys::SYS_FTRUNCATE, file, at + bytes) } == 0).then_some(())
    }

    fn map(&self, at: usize, bytes: usize) -> Option<*mut u64> {
        let at = i64::try_from(at).ok()?;
        let (access, flags) = (sys::PROT_READ_WRITE, sys::MAP_SHARED);
        // SAFETY: a new mapping of a file that this process has made, which is long enough.
        let window = unsafe { sys::mmap(ptr::null_mut(), bytes, access, flags, self.0, at) };
        (window.addr() != usize::MAX).then_some(window.cast())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: `Open::new` got this descriptor from the system, and nobody else closes it.
        unsafe { sys::syscall(sys::SYS_CLOSE, c_long::from(self.0)) };
    }
}

fn unmap(window: *mut u64, bytes: usize) {
    // SAFETY: a mapping of `Open::map`, of this size, which nobody uses any more.
    unsafe { sys::munmap(window.cast::<c_void>(), bytes) };
}

impl Journal {
    /// Begins a record in a new file of this folder. `None` if the system refuses.
    pub(crate) fn new(folder: &Path, family: u64) -> Option<Journal> {
        // SAFETY: has no preconditions.
        let process = unsafe { sys::getpid() };
        // A program that replaces itself keeps its number.
        let (path, file) = (0..100).find_map(|number| {
            let path = folder.join(format!("{process}.{number}"));
            let path = CString::new(path.into_os_string().into_vec()).ok()?;
            let file = Open::new(&path, true)?;
            Some((path, file))
        })?;
        file.grow(0, WINDOW)?;
        let head = file.map(0, HEADER)?;
        let window = file.map(0, WINDOW)?;
        let (taken, taken_at) = (processor_nanoseconds(), nanoseconds());
        let mut journal = Journal { path, head, window, before: 0, len: HEADER, taken, taken_at };
        journal.set(header::MAGIC, u64::from_ne_bytes(MAGIC));
        journal.set(header::VERSION, VERSION);
        journal.set(header::PID, u64::from(process.unsigned_abs()));
        journal.set(header::FAMILY, family);
        journal.set(header::START_TICKS, rate::ticks());
        journal.set(header::START_NANOSECONDS, taken_at);
        journal.set(header::START_PROCESSOR, taken);
        journal.complete();
        Some(journal)
    }

    /// Leaves the record to the parent of this process, which goes on with it.
    pub(crate) fn leave(self) {
        unmap(self.head, HEADER);
        unmap(self.window, WINDOW);
    }

    fn set(&mut self, index: usize, value: u64) {
        // SAFETY: `head` maps the `HEADER` bytes of the record, aligned to a page, and `index` is
        // one of its words; only the lock's holder accesses them (S1).
        unsafe { self.head.wrapping_add(index).write_volatile(value) };
    }

    fn get(&self, index: usize) -> u64 {
        // SAFETY: `head` maps the `HEADER` bytes of the record, aligned to a page, and `index` is
        // one of its words; only the lock's holder accesses them (S1).
        unsafe { self.head.wrapping_add(index).read_volatile() }
    }

    /// Declares what was written so far complete.
    fn complete(&mut self) {
        self.set(header::LEN, (self.before + self.len) as u64);
    }

    /// Stores the time, and what recording took: without the waiting, and with it. Since the process was asked
    /// for its time, some milliseconds ago at most, it has hardly waited.
    pub(crate) fn stamp(&mut self, now: u64, spent: u64, inside: u64) {
        let now_nanoseconds = nanoseconds();
        let since = now_nanoseconds.saturating_sub(self.taken_at);
        self.set(header::LATEST_TICKS, now);
        self.set(header::LATEST_NANOSECONDS, now_nanoseconds);
        self.set(header::LATEST_PROCESSOR, self.taken + since);
        self.set(header::SPENT_TICKS, spent);
        self.set(header::INSIDE_TICKS, inside);
    }

    /// Stores the time that the process took, which is a call of the system, and returns it in ticks since
    /// the record began.
    pub(crate) fn stamp_processor(&mut self) -> u64 {
        let (taken, now) = (processor_nanoseconds(), nanoseconds());
        (self.taken, self.taken_at) = (taken, now);
        self.set(header::LATEST_PROCESSOR, taken);
        let since = |now: u64, start| u128::from(now.saturating_sub(self.get(start)));
        let ticks = since(rate::ticks(), header::START_TICKS);
        let passed = since(now, header::START_NANOSECONDS).max(1);
        let taken = since(taken, header::START_PROCESSOR) * ticks / passed;
        u64::try_from(taken).unwrap_or(u64::MAX)
    }

    /// Counts a child of `fork`.
    pub(crate) fn forks(&mut self, is_followed: bool) {
        let counted = if is_followed { header::FORKS } else { header::LEFT_OUT };
        self.set(counted, self.get(counted) + 1);
    }

    /// Writes an entry: its kind, these words, and these bytes. `None` if the file cannot grow.
    fn write(&mut self, kind: u64, words: &[u64], bytes: &[u8]) -> Option<()> {
        let more = bytes.len().div_ceil(8);
        let count = 1 + words.len() + more;
        if self.len + count * 8 > WINDOW {
            self.advance()?;
        }
        let mut at = self.window.wrapping_add(self.len / 8);
        let mut put = |word: u64| {
            // SAFETY: the window, which only the lock's holder writes (S1), has room: after
            // `advance`, all but a page is free, and no entry is longer than a path.
            unsafe { at.write(word) };
            at = at.wrapping_add(1);
        };
        put(kind | (count as u64) << 8);
        words.iter().copied().for_each(&mut put);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            put(u64::from_ne_bytes(word));
        }
        self.len += count * 8;
        self.complete();
        Some(())
    }

    /// Maps the part of the file that begins with the page at which writing has arrived. `None` if
    /// there is none.
    fn advance(&mut self) -> Option<()> {
        let written = self.before + self.len;
        let (page, rest) = (written / 4096 * 4096, written % 4096);
        if page + WINDOW > MOST {
            return None;
        }
        let file = Open::new(&self.path, false)?;
        file.grow(page, page + WINDOW)?;
        let window = file.map(page, WINDOW)?;
        unmap(self.window, WINDOW);
        (self.window, self.before, self.len) = (window, page, rest);
        Some(())
    }

    pub(crate) fn module(&mut self, code: &Code) -> Option<()> {
        let Code { base, start, end, path } = code;
        let words = [*base as u64, *start as u64, *end as u64, path.len() as u64];
        self.write(kind::MODULE, &words, path)
    }

    pub(crate) fn frame(&mut self, id: u32, parent: u32, address: usize, depth: u32) -> Option<()> {
        let words = [u64::from(id), u64::from(parent), address as u64, u64::from(depth)];
        self.write(kind::FRAME, &words, &[])
    }

    pub(crate) fn birth(&mut self, words: &[u64; 9]) -> Option<()> {
        self.write(kind::BIRTH, words, &[])
    }

    pub(crate) fn death(&mut self, words: &[u64; 7]) -> Option<()> {
        self.write(kind::DEATH, words, &[])
    }

    pub(crate) fn next(&mut self, words: &[u64; 5]) -> Option<()> {
        self.write(kind::NEXT, words, &[])
    }

    pub(crate) fn end(&mut self, thread: u32, distance: u64) -> Option<()> {
        self.write(kind::END, &[u64::from(thread), distance], &[])
    }

    pub(crate) fn resize(&mut self, id: u64, size: usize) -> Option<()> {
        self.write(kind::RESIZE, &[id, size as u64], &[])
    }

    pub(crate) fn cost(
        &mut self,
        is_free: bool,
        size: usize,
        ticks: u64,
        weight: u64,
    ) -> Option<()> {
        self.write(kind::COST, &[u64::from(is_free), size as u64, ticks, weight], &[])
    }
}

/// The time of the processor that this process has taken, without its children.
fn processor_nanoseconds() -> u64 {
    let mut time = [0_i64; 2];
    // SAFETY: `time` is valid for the write of the two words that the C library stores.
    unsafe { sys::clock_gettime(sys::CLOCK_PROCESS, &raw mut time) };
    time[0].unsigned_abs() * 1_000_000_000 + time[1].unsigned_abs()
}

fn nanoseconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}
