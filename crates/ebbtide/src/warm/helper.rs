//! The helper thread, which ends windows while the program does nothing.
//!
//! Whoever keeps a block starts it, if none is running. It sleeps for a window, ends it, and stops
//! when nothing is kept any more. It allocates nothing through Rust. A child of a fork has none: what is
//! kept goes back before the fork, and the child's first block starts its own.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::thread_local;

/// What the thread does.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", not(miri))),
    allow(dead_code, reason = "forks are noticed on Linux")
)]
pub(super) trait Windows: 'static {
    /// Gives everything back, and keeps nothing until the fork that follows is over: nobody would give
    /// it back in the child.
    fn before_fork();
    /// In the parent.
    fn after_fork();
    /// In the child, which has no helper thread.
    fn in_child();
    /// Until when the thread, which calls this, counts as running. `None` if it must end.
    fn watched_until() -> Option<u64>;
    /// Gives back what is kept no longer. Called by the thread, which counts as running until `until`,
    /// as often as it announces. `resident` returns the bytes of the process's resident memory, if they
    /// can be read. Returns until when the thread counts as running from now on; `None` if it must end,
    /// because nothing is kept or another one was started.
    fn look(until: u64, resident: fn() -> Option<usize>) -> Option<u64>;
}

pub(super) const WINDOW_MS: u16 = 1000;

/// How much later than announced the thread may look, in milliseconds.
pub(super) const GRACE_MS: u16 = 1000;

/// The threads that were started and do not keep this library loaded yet.
static STARTING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// On Linux, a registered destructor keeps the library with its code loaded until its thread
    /// ends.
    static LOADED: Loaded = const { Loaded };
}

struct Loaded;

impl Drop for Loaded {
    fn drop(&mut self) {}
}

/// Starts the thread. Returns false if that fails.
#[cold]
pub(super) fn start<W: Windows>() -> bool {
    STARTING.fetch_add(1, Ordering::Relaxed);
    let is_started = system::start::<W>();
    if !is_started {
        STARTING.fetch_sub(1, Ordering::Relaxed);
    }
    is_started
}

/// Waits until the threads that were started, if any, keep this library loaded. Called at the end of
/// a thread: after that, the library may be unloaded. Gives up after a while, because a thread may
/// have been lost.
pub(super) fn wait_for_start() {
    for _ in 0..GRACE_MS {
        if STARTING.load(Ordering::Acquire) == 0 {
            return;
        }
        system::sleep(1);
    }
}

/// Lets other threads run, for a millisecond if this takes `long`.
pub(super) fn pause(long: bool) {
    if long { system::sleep(1) } else { system::give_way() }
}

/// The thread's function. It looks [`GRACE_MS`] before the time until which it counts as running.
fn run<W: Windows>() {
    let _ = LOADED.try_with(|_| ());
    STARTING.fetch_sub(1, Ordering::Release);
    let mut until = W::watched_until();
    while let Some(announced) = until {
        let left = announced.saturating_sub(now() + u64::from(GRACE_MS));
        // The clock may be a few milliseconds slow.
        system::sleep(u16::try_from(left + 1).unwrap_or(WINDOW_MS).min(WINDOW_MS));
        until = W::look(announced, system::resident);
    }
}

pub(super) use system::{CAN_START, now};

// The standard library already links the C library. A few calls are not worth a dependency, and a
// thread of the standard library's needs memory of the heap, whose refusal would end the process.
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    not(miri),
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod system {
    use super::{STARTING, Windows};
    use core::{
        ffi::{c_char, c_int, c_long, c_ulong, c_void},
        ptr,
        sync::atomic::{AtomicBool, Ordering},
    };

    const CLOCK_MONOTONIC_COARSE: c_int = 6;
    const SIG_SETMASK: c_int = 2;

    /// As large as the C library's, which is at most 1,024 signals.
    type Signals = [u64; 16];

    #[repr(C)]
    struct Time {
        seconds: c_long,
        nanoseconds: c_long,
    }

    /// Whether there are helper threads on this system.
    pub(in super::super) const CAN_START: bool = true;

    const DETACHED: c_int = 1;

    /// The stack of the thread, in bytes. The C library places thread-locals there as well.
    const STACK: usize = 256 << 10;

    const SC_PAGESIZE: c_int = 30;
    const O_CLOEXEC: c_int = 0o2_000_000;

    /// At least as large as the C library's.
    type Attributes = [c_long; 16];

    unsafe extern "C" {
        fn pthread_attr_init(attributes: *mut Attributes) -> c_int;
        fn pthread_attr_setstacksize(attributes: *mut Attributes, bytes: usize) -> c_int;
        fn pthread_attr_setdetachstate(attributes: *mut Attributes, state: c_int) -> c_int;
        fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
        fn pthread_create(
            thread: *mut c_ulong,
            attributes: *const Attributes,
            start: extern "C" fn(*mut c_void) -> *mut c_void,
            argument: *mut c_void,
        ) -> c_int;
        fn pthread_atfork(
            before: Option<extern "C" fn()>,
            in_parent: Option<extern "C" fn()>,
            in_child: Option<extern "C" fn()>,
        ) -> c_int;
        fn pthread_sigmask(how: c_int, new: *const Signals, old: *mut Signals) -> c_int;
        fn clock_gettime(clock: c_int, time: *mut Time) -> c_int;
        fn open(path: *const c_char, flags: c_int, ...) -> c_int;
        fn read(file: c_int, buffer: *mut c_void, size: usize) -> isize;
        fn close(file: c_int) -> c_int;
        safe fn sysconf(name: c_int) -> c_long;
        fn nanosleep(time: *const Time, left: *mut Time) -> c_int;
        safe fn sched_yield() -> c_int;
    }

    extern "C" fn call<W: Windows>(_: *mut c_void) -> *mut c_void {
        super::run::<W>();
        ptr::null_mut()
    }

    extern "C" fn before_fork<W: Windows>() {
        W::before_fork();
    }

    extern "C" fn after_fork<W: Windows>() {
        W::after_fork();
    }

    extern "C" fn in_child<W: Windows>() {
        STARTING.store(0, Ordering::Relaxed);
        W::in_child();
    }

    /// Whether the C library calls the three functions above. Relaxed: it publishes nothing.
    static IS_FORK_KNOWN: AtomicBool = AtomicBool::new(false);

    /// Starts the thread, which handles no signals.
    pub(super) fn start<W: Windows>() -> bool {
        // Only one of several threads that come here at the same time registers them.
        if !IS_FORK_KNOWN.swap(true, Ordering::Relaxed) {
            // SAFETY: the C library forgets the functions when this library is unloaded.
            let failed = unsafe {
                pthread_atfork(Some(before_fork::<W>), Some(after_fork::<W>), Some(in_child::<W>))
            } != 0;
            if failed {
                IS_FORK_KNOWN.store(false, Ordering::Relaxed);
                return false;
            }
        }
        let (all, mut before) = ([u64::MAX; 16], [0; 16]);
        // SAFETY: both point to sets of signals of the C library's size.
        if unsafe { pthread_sigmask(SIG_SETMASK, &raw const all, &raw mut before) } != 0 {
            return false;
        }
        let is_started = create::<W>();
        // SAFETY: a set that the call above has written; nothing is returned through null.
        unsafe { pthread_sigmask(SIG_SETMASK, &raw const before, ptr::null_mut()) };
        is_started
    }

    /// Starts the thread, with a small stack. Nobody waits for its end.
    fn create<W: Windows>() -> bool {
        let mut attributes = [0; 16];
        // SAFETY: the variable is as large as the C library's attributes.
        if unsafe { pthread_attr_init(&raw mut attributes) } != 0 {
            return false;
        }
        // SAFETY: the attributes were initialised above. If the size is refused, it stays as it is.
        unsafe { pthread_attr_setstacksize(&raw mut attributes, STACK) };
        let (attributes, mut thread) = (&raw mut attributes, 0);
        // SAFETY: the attributes were initialised above.
        let is_started = unsafe { pthread_attr_setdetachstate(attributes, DETACHED) } == 0
            // SAFETY: `thread` is a variable for the result, the attributes were initialised, and the
            // function ignores its argument.
            && unsafe { pthread_create(&raw mut thread, attributes, call::<W>, ptr::null_mut()) }
                == 0;
        // SAFETY: the attributes were initialised above and are not used again.
        unsafe { pthread_attr_destroy(attributes) };
        is_started
    }

    /// Milliseconds since some time in the past.
    pub(in super::super) fn now() -> u64 {
        let mut time = Time { seconds: 0, nanoseconds: 0 };
        // SAFETY: the pointer is valid for writes of the structure.
        unsafe { clock_gettime(CLOCK_MONOTONIC_COARSE, &raw mut time) };
        (time.seconds * 1000 + time.nanoseconds / 1_000_000).unsigned_abs()
    }

    /// The bytes of the process's resident memory, if the system shows them. Does not allocate.
    pub(super) fn resident() -> Option<usize> {
        let mut text = [0_u8; 64];
        // SAFETY: the path is a C string.
        let file = unsafe { open(c"/proc/self/statm".as_ptr(), O_CLOEXEC) };
        if file < 0 {
            return None;
        }
        // SAFETY: the file was just opened, and the buffer has so many bytes.
        let length = unsafe { read(file, text.as_mut_ptr().cast(), text.len()) };
        // SAFETY: nobody else knows the file.
        unsafe { close(file) };
        let text = text.get(..usize::try_from(length).ok()?)?;
        // The second number. By hand: the standard library's parsers and adapters bring more code along
        // than the rest has.
        let (mut numbers, mut pages) = (0, 0_usize);
        for &byte in text {
            match byte {
                b' ' => numbers += 1,
                b'0'..=b'9' if numbers == 1 => {
                    pages = pages.checked_mul(10)?.checked_add((byte - b'0').into())?;
                }
                _ if numbers == 1 => return None,
                _ => {}
            }
        }
        if numbers == 0 {
            return None;
        }
        pages.checked_mul(usize::try_from(sysconf(SC_PAGESIZE)).ok()?)
    }

    /// Lets other threads run.
    pub(super) fn give_way() {
        sched_yield();
    }

    /// Sleeps for this time, or until a signal comes.
    pub(super) fn sleep(milliseconds: u16) {
        let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
        let time = Time { seconds: seconds.into(), nanoseconds: c_long::from(rest) * 1_000_000 };
        // SAFETY: the pointer is valid for reads of the structure, and nothing is returned through
        // null.
        unsafe { nanosleep(&raw const time, ptr::null_mut()) };
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    not(miri),
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
)))]
mod system {
    use super::Windows;
    use std::{sync::OnceLock, thread, time::Instant};

    pub(in super::super) const CAN_START: bool = cfg!(miri);

    pub(super) fn start<W: Windows>() -> bool {
        thread::Builder::new().spawn(super::run::<W>).is_ok()
    }

    pub(in super::super) fn now() -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        let since = START.get_or_init(Instant::now).elapsed();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn resident() -> Option<usize> {
        None
    }

    pub(super) fn give_way() {
        thread::yield_now();
    }

    pub(super) fn sleep(milliseconds: u16) {
        thread::sleep(core::time::Duration::from_millis(milliseconds.into()));
    }
}
