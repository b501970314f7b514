//! What the threads share: the record and all that it is made from.

use super::{
    journal::{Code, Journal},
    local::{Due, Local, local},
    rate::{self, Rate},
    slots::{self, Slot, Slots},
    stacks::{self, Stacks, Unwound},
};
use crate::{behind::Request, sys};
use core::{
    cell::UnsafeCell,
    ffi::{CStr, c_int, c_void},
    mem, ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering},
};
use std::{
    collections::HashMap,
    env, fs,
    os::unix::ffi::OsStringExt,
    path::{self, Path, PathBuf},
};

/// The variable with the folder for records.
pub const FOLDER: &str = "EBBTIDE_ADVISE_FOLDER";

/// The variable with the mean number of blocks between two that are recorded. Without it, the rate
/// follows the time that recording takes.
pub const EVERY: &str = "EBBTIDE_ADVISE_EVERY";

/// The blocks from a recorded one to those that tell which of its calls have ended: 1, 4, 16 and so on,
/// or, of every other one, twice as many. Near ones are for calls with few blocks, far ones for many.
const FARTHER: i64 = 4;

/// The ticks between two looks at the time of the process.
const RESTAMP: u64 = 1 << 23;

/// Of blocks that are all recorded, one in so many is allocated and freed by the C library as well, to
/// time it.
const TIMED: u64 = 16;

/// A countdown that does not end.
const NEVER: i64 = i64::MAX;

/// So many children of `fork` are recorded, and of those of each child as many as are left of it: each
/// takes a file.
const MOST_CHILDREN: u64 = 256;

/// Everything under the lock.
#[derive(Debug)]
pub(crate) struct State {
    /// The folder for records.
    folder: PathBuf,
    /// The cycle counter when the program began, of which this process is a copy.
    family: u64,
    /// The number of children of `fork` before this process and of it, and whether the next is recorded.
    forks: u64,
    is_followed: bool,
    journal: Journal,
    stacks: Stacks,
    slots: Slots,
    rate: Rate,
    /// The code that is mapped, as far as it is in the record.
    modules: Vec<Code>,
    /// The number of modules that the loader had added then.
    added: u64,
    /// The blocks that were recorded, and those among them that are in the record of a parent.
    births: u64,
    births_before: u64,
    threads: u32,
    /// The ticks from the beginning to the end of all recording.
    inside: u64,
    /// The times that recording began, and the fewest ticks from its end to the next beginning.
    events: u64,
    least_gap: u32,
    /// When the time of the process was last stored, and that time, in ticks.
    stamped: u64,
    used: u64,
    /// The latest recorded block of each thread.
    latest: HashMap<u32, Latest>,
}

/// A thread's latest recorded block.
#[derive(Debug)]
struct Latest {
    id: u64,
    /// The hashes of its callers.
    callers: Vec<u32>,
    /// The fewest calls that one of the thread's blocks found to be those of the block before.
    fewest: u64,
}

struct Shared(UnsafeCell<Option<State>>);

// SAFETY: only the thread that has the lock accesses it (S1).
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(None));
static IS_LOCKED: AtomicBool = AtomicBool::new(false);

const NOT_YET: u8 = 0;
const ON: u8 = 1;
const OFF: u8 = 2;
/// This is a child of `fork`, which opens a record of its own before its first recorded block.
const COPIED: u8 = 3;

/// Whether blocks are recorded. Relaxed: the lock orders everything else.
static MODE: AtomicU8 = AtomicU8::new(NOT_YET);

fn lock() {
    while IS_LOCKED
        .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        // SAFETY: has no preconditions.
        unsafe { sys::sched_yield() };
    }
}

fn unlock() {
    IS_LOCKED.store(false, Ordering::Release);
}

/// Whether this process was made by a call of the system that ran none of the functions below.
/// The kernel clears the page in every child.
fn is_copy() -> bool {
    let page = OWNER.load(Ordering::Relaxed);
    // SAFETY: the page stays mapped, and is written once before it is here.
    !page.is_null() && unsafe { page.read_volatile() } == 0
}

/// What is recorded in this process (S3).
fn mode() -> u8 {
    if is_copy() { OFF } else { MODE.load(Ordering::Relaxed) }
}

/// A page with 1 in the process that records; null where the kernel has no such pages.
static OWNER: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

fn make_owner() {
    const BYTES: usize = 4096;
    let Some(page) = sys::reserve(BYTES, sys::PROT_READ_WRITE) else { return };
    // SAFETY: the mapping is new.
    if unsafe { sys::madvise(page, BYTES, sys::MADV_WIPEONFORK) } == 0 {
        OWNER.store(page.cast(), Ordering::Relaxed);
        mark_owner();
    }
}

fn mark_owner() {
    let page = OWNER.load(Ordering::Relaxed);
    if !page.is_null() {
        // SAFETY: `make_owner` mapped the page, writable, and it stays mapped. Writing 1 twice is no race: a
        // child has one thread.
        unsafe { page.write_volatile(1) };
    }
}

/// A thread that runs code of the recorder (S1).
struct Busy<'l> {
    local: &'l Local,
    countdown: i64,
    /// The number of the program's latest error, which `malloc` and `free` keep.
    errno: c_int,
}

impl<'l> Busy<'l> {
    /// `None` if the thread is busy already.
    fn enter(local: &'l Local) -> Option<Busy<'l>> {
        if local.is_busy.replace(true) {
            return None;
        }
        Some(Busy { local, countdown: local.countdown.replace(NEVER), errno: sys::errno() })
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        sys::set_errno(self.errno);
        self.local.countdown.set(self.countdown);
        self.local.is_busy.set(false);
    }
}

/// Runs a closure with the state, if blocks are recorded. The closure takes no lock but those of
/// the C library's allocator.
fn with<R>(f: impl FnOnce(&mut State) -> R) -> Option<R> {
    // Other libraries' functions around `fork` run with the lock, and use the allocator.
    let is_forking = local().is_forking.get();
    if !is_forking {
        lock();
    }
    // SAFETY: this thread has the lock, and the closures of this module do not come back here (S1).
    let state = unsafe { &mut *STATE.0.get() };
    let result = state.as_mut().map(f);
    if !is_forking {
        unlock();
    }
    result
}

/// Begins a record, if the environment names a folder. Called once, when the library is loaded.
pub(crate) fn begin() {
    let local = local();
    let Some(_busy) = Busy::enter(local) else { return };
    let state = env::var_os(FOLDER).and_then(|folder| State::new(Path::new(&folder)));
    make_owner();
    sys::find_unwinding();
    let mode = if state.is_some() { ON } else { OFF };
    lock();
    // SAFETY: this thread has the lock.
    unsafe { *STATE.0.get() = state };
    unlock();
    // Last, because a library that was loaded before may have begun threads.
    MODE.store(mode, Ordering::Relaxed);
    // SAFETY: the three functions are sound in every thread that forks.
    unsafe { sys::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
}

/// Ends the record, where the process ends by a return or by `exit`.
pub(crate) fn end() {
    let local = local();
    let Some(busy) = Busy::enter(local) else { return };
    if mode() != ON {
        return;
    }
    with(|state| {
        state.journal.end(local.thread.get(), since_latest(local, busy.countdown));
        state.journal.stamp_processor();
    });
}

/// The number of blocks since the thread's latest recorded one.
fn since_latest(local: &Local, countdown: i64) -> u64 {
    let after = match local.due.get() {
        Due::Birth => 0,
        Due::Next | Due::Time => 1 + local.left.get(),
        Due::Warm => 2 + local.left.get(),
    };
    let distance = local.distance.get() - 1 - countdown - after;
    u64::try_from(distance).unwrap_or(0)
}

extern "C" fn before_fork() {
    lock();
    local().is_forking.set(true);
    with(|state| {
        state.forks += 1;
        let is_on = matches!(mode(), ON | COPIED);
        state.is_followed = is_on && state.forks <= MOST_CHILDREN && sys::can_unwind_after_fork();
    });
}

/// The thread has the lock, in the parent and in the child.
fn end_fork() {
    local().is_forking.set(false);
    unlock();
}

extern "C" fn after_fork() {
    if mode() == ON {
        with(|state| state.journal.forks(state.is_followed));
    }
    end_fork();
}

/// The child has the file of its parent, and records nothing before it has its own (S3). That of a child
/// which becomes another program would be empty.
extern "C" fn in_child() {
    let is_followed = with(|state| state.is_followed) == Some(true);
    if is_followed {
        mark_owner();
    }
    MODE.store(if is_followed { COPIED } else { OFF }, Ordering::Relaxed);
    // Of the threads, only this one is here, and has recorded nothing yet.
    let local = local();
    local.thread.set(0);
    local.due.set(Due::Birth);
    local.countdown.set(0);
    local.times_free.set(false);
    local.high.set(0);
    end_fork();
}

/// Opens the record of a child. Returns what is recorded from then on.
fn follow() -> u8 {
    let followed = with(|state| {
        // Not if another thread was faster.
        if mode() == COPIED {
            let mode = if state.follow().is_some() { ON } else { OFF };
            MODE.store(mode, Ordering::Relaxed);
        }
    });
    followed.map_or(OFF, |()| mode())
}

/// A block that was recorded or timed; `None` if the C library serves the request.
///
/// `end` is where the allocator's frame ends.
#[cold]
#[inline(never)]
pub(crate) fn alloc(request: Request, is_zeroed: bool, end: usize) -> Option<*mut c_void> {
    let size = request.size;
    let local = local();
    let mut busy = Busy::enter(local)?;
    let mode = match mode() {
        COPIED => follow(),
        mode => mode,
    };
    match mode {
        ON => {}
        // Until the library is ready, which takes few allocations.
        NOT_YET => {
            busy.countdown = 0;
            return None;
        }
        _ => {
            busy.countdown = NEVER;
            return None;
        }
    }
    if stacks::is_unwinder(end) {
        busy.countdown = 0;
        return None;
    }
    let began = rate::ticks();
    if local.due.get() == Due::Warm {
        local.due.set(Due::Time);
        busy.countdown = 0;
        return timed(request, is_zeroed).0;
    }
    if local.due.get() == Due::Time {
        local.due.set(Due::Birth);
        local.times_free.set(true);
        busy.countdown = local.left.get();
        let (block, ticks) = timed(request, is_zeroed);
        with(|state| state.journal.cost(false, size, ticks, state.rate.weight()));
        return block;
    }
    if local.due.get() == Due::Next {
        let unwound = Unwound::here(end);
        let is_over = with(|state| {
            let is_over = state.follows(local, &unwound);
            state.spend(local, began);
            is_over
        });
        let more = local.gap.get() * (FARTHER - 1);
        if is_over == Some(false) && more <= local.left.get() {
            local.gap.set(local.gap.get() + more);
            local.left.set(local.left.get() - more);
            busy.countdown = more - 1;
            return None;
        }
        let (left, half) = (local.left.get(), local.left.get() / 2);
        let is_timed = left > 1;
        local.due.set(if is_timed { Due::Warm } else { Due::Birth });
        local.left.set(left - half - 2);
        busy.countdown = if is_timed { half } else { left };
        return None;
    }
    if local.thread.get() == 0 {
        let wait = with(|state| state.new_thread(local)).unwrap_or(NEVER);
        if wait > 0 {
            busy.countdown = wait - 1;
            return None;
        }
    }
    let unwound = Unwound::here(end);
    let is_known = |state: &mut State| unwound.addresses().all(|address| state.knows(address));
    let unknown = with(|state| (!is_known(state)).then_some(state.added)).flatten();
    if let Some(added) = unknown {
        let loaded = Loaded::now(added);
        with(|state| state.learn(loaded));
    }
    if local.exponent.get() == 0 && with(|state| state.births % TIMED == 0) == Some(true) {
        time_another(request, is_zeroed);
    }
    with(|state| {
        let born = state.born(local, request, is_zeroed, &unwound);
        let wait = state.draw(local);
        // Later blocks tell which calls of the recorded one have ended.
        let gap = if wait > 1 { 1 << (state.births % 2) } else { 1 };
        local.due.set(if wait > 0 { Due::Next } else { Due::Birth });
        local.gap.set(gap);
        local.left.set(wait - gap);
        busy.countdown = if wait > 0 { gap - 1 } else { 0 };
        state.spend(local, began);
        born
    })
    .flatten()
}

/// A block of the allocator behind this one, if there is one, and the time that it took. One function, so
/// that a first call warms it.
#[inline(never)]
fn timed(request: Request, is_zeroed: bool) -> (Option<*mut c_void>, u64) {
    let began = rate::start_ticks();
    let block = request.alloc(is_zeroed);
    let ticks = rate::ticks().saturating_sub(began);
    ((!block.is_null()).then_some(block), ticks)
}

/// Times a block of the allocator behind this one beside a recorded one. The first of two is not timed:
/// the recorder's own code has emptied the caches.
fn time_another(request: Request, is_zeroed: bool) {
    for is_warm in [false, true] {
        let (Some(block), ticks) = timed(request, is_zeroed) else { return };
        let began = rate::start_ticks();
        // SAFETY: the allocator served the block for this request just now, and nobody else knows it.
        unsafe { request.free(block) };
        let freed = rate::ticks().saturating_sub(began);
        if is_warm {
            with(|state| {
                state.journal.cost(false, request.size, ticks, 1);
                state.journal.cost(true, 0, freed, 1);
            });
        }
    }
}

/// Frees a recorded block.
///
/// # Safety
///
/// The block is alive, and was recorded. It is not used again.
#[cold]
#[inline(never)]
pub(crate) unsafe fn free(block: *mut c_void, end: usize) {
    let local = local();
    let mut busy = Busy::enter(local);
    let began = rate::ticks();
    // SAFETY: the caller says that the block was recorded.
    let slot = unsafe { slots::slot_of(block) };
    // SAFETY: the slot of a block that is alive, which nobody changes meanwhile.
    let Slot { id, thread, .. } = unsafe { *slot };
    let is_on = mode() == ON;
    let (mut kept, mut place) = (0, 0);
    if is_on && thread == local.thread.get() {
        // SAFETY: the block is alive until its slot is given back, below.
        let callers = unsafe { slots::callers(slot) };
        let unwound = Unwound::here(end);
        kept = unwound.kept(callers);
        place = unwound.place(kept);
    }
    let since = busy.as_ref().map_or(0, |busy| since_latest(local, busy.countdown));
    let wait = with(|state| {
        let is_new = is_on && local.thread.get() == 0;
        let wait = is_new.then(|| state.new_thread(local));
        if is_on {
            state.dies(local, [id, kept, place, since]);
        }
        // SAFETY: the slot was taken here, and its block is not used again.
        unsafe { state.slots.give(slot) };
        if is_on {
            state.spend(local, began);
        }
        wait
    });
    if let (Some(busy), Some(wait)) = (&mut busy, wait.flatten()) {
        busy.countdown = wait;
    }
    drop(busy);
}

/// Frees a block of the allocator behind this one, and records the time that this takes.
///
/// # Safety
///
/// The block is of this request. It is not used again.
#[cold]
#[inline(never)]
pub(crate) unsafe fn free_timed(request: Request, block: *mut c_void) {
    let local = local();
    let busy = Busy::enter(local);
    let began = rate::start_ticks();
    // SAFETY: by this function's contract, the block is of this request, and not used again.
    unsafe { request.free(block) };
    let ticks = rate::ticks().saturating_sub(began);
    // The recorder's own blocks are not timed.
    if busy.is_some() {
        local.times_free.set(false);
        if mode() == ON {
            with(|state| state.journal.cost(true, 0, ticks, state.rate.weight()));
        }
    }
}

/// Resizes a recorded block for another request. Null if there is no memory: then the block is as it was.
///
/// # Safety
///
/// The block is alive, and was recorded. If the result is not null, it is not used again.
#[cold]
#[inline(never)]
pub(crate) unsafe fn resize(block: *mut c_void, request: Request, end: usize) -> *mut c_void {
    let Request { size, align, .. } = request;
    let busy = Busy::enter(local());
    // SAFETY: the caller says that the block was recorded.
    let slot = unsafe { slots::slot_of(block) };
    // SAFETY: the slot of a block that is alive.
    let old = unsafe { *slot };
    // SAFETY: the block is alive, and was recorded.
    let room = unsafe { slots::usable_size(block) };
    let moved = with(|state| {
        if mode() == ON {
            state.resized(old.id, size);
        }
        if size <= room && size >= room / 4 {
            return block;
        }
        // SAFETY: the block is alive until its slot is given back, below.
        let callers = unsafe { slots::callers(slot) };
        let Some((new, new_slot)) = state.slots.take(size, align, callers.iter().copied()) else {
            return ptr::null_mut();
        };
        // SAFETY: the slot was taken for this block, which continues the old one.
        unsafe { (*new_slot).begin(old.id, old.thread) };
        // SAFETY: both blocks are alive, are different, and have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), room.min(size)) };
        // SAFETY: the slot was taken here, and its block is not used again.
        unsafe { state.slots.give(slot) };
        new
    });
    drop(busy);
    if let Some(moved) = moved.filter(|moved| !moved.is_null()) {
        return moved;
    }
    let new = request.alloc(false);
    if !new.is_null() {
        // SAFETY: both blocks are alive, are different, and have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), room.min(size)) };
        // SAFETY: the caller's block, which is not used again.
        unsafe { free(block, end) };
    }
    new
}

impl State {
    fn new(folder: &Path) -> Option<State> {
        let every = env::var(EVERY).ok().and_then(|every| every.parse().ok());
        // The program may change its folder before the file is opened again.
        let folder = path::absolute(folder).ok()?;
        let family = rate::ticks();
        let mut state = State {
            journal: Journal::new(&folder, family)?,
            folder,
            family,
            forks: 0,
            is_followed: false,
            stacks: Stacks::new()?,
            slots: Slots::new(),
            rate: Rate::new(every),
            modules: Vec::new(),
            added: 0,
            births: 0,
            births_before: 0,
            threads: 0,
            inside: 0,
            events: 0,
            least_gap: u32::MAX,
            stamped: 0,
            used: 0,
            latest: HashMap::new(),
        };
        let loaded = Loaded::now(0);
        // The function's address, not its entry in a table of this library.
        let unwinder = sys::_Unwind_Backtrace as *const c_void;
        let mut code = loaded.code.iter();
        if let Some(code) = code.find(|code| (code.start..code.end).contains(&unwinder.addr())) {
            stacks::set_unwinder(code.start, code.end);
        }
        state.learn(loaded);
        Some(state)
    }

    /// Begins the record of a child. `None` if the system refuses.
    fn follow(&mut self) -> Option<()> {
        let journal = Journal::new(&self.folder, self.family)?;
        mem::replace(&mut self.journal, journal).leave();
        self.stacks = Stacks::new()?;
        self.rate.restart(self.forks);
        self.births_before = self.births;
        (self.inside, self.events, self.least_gap) = (0, 0, u32::MAX);
        (self.stamped, self.used) = (0, 0);
        self.latest.clear();
        // The loader's list may be locked, by a thread that is not here.
        self.modules.iter().try_for_each(|code| self.journal.module(code))
    }

    /// The number of a block in this record; `None` if it is in that of a parent.
    fn number(&self, id: u64) -> Option<u64> {
        id.checked_sub(self.births_before)
    }

    /// Gives a thread its number. Returns the number of blocks until the first that is recorded.
    fn new_thread(&mut self, local: &Local) -> i64 {
        self.threads += 1;
        local.thread.set(self.threads);
        // Children draw other numbers than each other.
        let random = (u64::from(self.threads) | self.forks << 32)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ 0x2545_F491_4F6C_DD1D;
        local.random.set(random);
        self.draw(local)
    }

    /// Draws the number of blocks before the thread's next recorded one.
    fn draw(&self, local: &Local) -> i64 {
        let (weight, mut random) = (self.rate.weight(), local.random.get());
        let wait = rate::distance(weight, &mut random);
        local.random.set(random);
        local.exponent.set(weight.ilog2());
        local.distance.set(wait + 1);
        wait
    }

    /// Records a block. `None` if there is no room for it.
    fn born(
        &mut self,
        local: &Local,
        request: Request,
        is_zeroed: bool,
        unwound: &Unwound,
    ) -> Option<*mut c_void> {
        let Request { size, align, .. } = request;
        let (block, slot) = self.slots.take(size, align, unwound.callers())?;
        let (frame, base) = self.stacks.add(unwound, &mut self.journal);
        let thread = local.thread.get();
        let before = self.latest.remove(&thread);
        let kept = before.as_ref().map_or(0, |before| unwound.kept(&before.callers));
        // Anew from time to time: a program's beginning ends more calls than the rest of it.
        let fewest = before.as_ref().filter(|before| before.id % 64 != 0);
        let fewest = fewest.map_or(kept, |before| before.fewest.min(kept));
        let mut callers = before.map_or_else(Vec::new, |before| before.callers);
        callers.clear();
        // Where the process has no memory left, it is not the recorder that ends it.
        if callers.try_reserve(unwound.callers().len()).is_ok()
            && self.latest.try_reserve(1).is_ok()
        {
            callers.extend(unwound.callers());
            let id = self.births - self.births_before;
            self.latest.insert(thread, Latest { id, callers, fewest });
        }
        let words = [
            rate::ticks(),
            u64::from(thread),
            u64::from(frame),
            base as u64,
            size as u64,
            1 << local.exponent.get(),
            kept,
            local.high.replace(0) as u64,
            local.distance.get().unsigned_abs(),
        ];
        if self.journal.birth(&words).is_none() {
            // The record is full.
            MODE.store(OFF, Ordering::Relaxed);
        }
        // SAFETY: the slot was taken for this block.
        unsafe { (*slot).begin(self.births, thread) };
        self.births += 1;
        // SAFETY: the slot was just taken.
        if is_zeroed && !unsafe { slots::is_zero(slot) } {
            // SAFETY: the block has so many bytes.
            unsafe { block.cast::<u8>().write_bytes(0, size) };
        }
        Some(block)
    }

    fn dies(&mut self, local: &Local, [id, kept, place, since]: [u64; 4]) {
        let Some(id) = self.number(id) else { return };
        let (thread, high) = (u64::from(local.thread.get()), local.high.replace(0) as u64);
        self.journal.death(&[id, rate::ticks(), thread, kept, high, place, since]);
    }

    fn resized(&mut self, id: u64, size: usize) {
        if let Some(id) = self.number(id) {
            self.journal.resize(id, size);
        }
    }

    /// Records what is left of the stack of the thread's latest recorded block at a later block. Returns
    /// whether there is no more to learn, because no more calls have ever been found to end.
    fn follows(&mut self, local: &Local, unwound: &Unwound) -> bool {
        let Some(latest) = self.latest.get_mut(&local.thread.get()) else { return true };
        let (gap, kept) = (local.gap.get().unsigned_abs(), unwound.kept(&latest.callers));
        latest.fewest = latest.fewest.min(kept);
        let is_over = kept == latest.fewest && kept < latest.callers.len() as u64;
        let last = local.gap.get() + local.left.get();
        let words = [latest.id, gap, kept, local.high.replace(0) as u64, last.unsigned_abs()];
        self.journal.next(&words);
        is_over
    }

    fn spend(&mut self, local: &Local, began: u64) {
        let now = rate::ticks();
        if now.saturating_sub(self.stamped) > RESTAMP {
            self.stamped = now;
            self.used = self.journal.stamp_processor();
        }
        let used = self.used + now.saturating_sub(self.stamped);
        self.rate.spend(now.saturating_sub(began), used);
        // Entering and leaving takes as long as between two blocks with nothing else in between.
        #[allow(clippy::cast_possible_truncation, reason = "differences of less than a second")]
        let gap = (began as u32).wrapping_sub(local.left_at.get());
        self.least_gap = self.least_gap.min(gap);
        self.events += 1;
        let around = self.events * u64::from(self.least_gap);
        self.journal.stamp(now, self.rate.spent(), self.inside + around);
        let now = rate::ticks();
        self.inside += now.saturating_sub(began);
        #[allow(clippy::cast_possible_truncation, reason = "modulo the size")]
        local.left_at.set(now as u32);
    }

    fn knows(&self, address: usize) -> bool {
        self.modules.iter().any(|code| (code.start..code.end).contains(&address))
    }

    /// Records the code that is mapped and not in the record.
    fn learn(&mut self, loaded: Loaded) {
        self.added = loaded.added;
        for mut code in loaded.code {
            if self.modules.iter().any(|known| (known.start, known.end) == (code.start, code.end)) {
                continue;
            }
            if code.path.is_empty() {
                // The program itself, which the loader does not name.
                let program = fs::read_link("/proc/self/exe").unwrap_or_default();
                code.path = program.into_os_string().into_vec();
            }
            self.journal.module(&code);
            self.modules.push(code);
        }
    }
}

/// What the loader has mapped: the number of modules that it has ever added, and their code.
struct Loaded {
    added: u64,
    code: Vec<Code>,
}

impl Loaded {
    /// What is mapped now; empty if no more than `added` modules were added. Called without the lock:
    /// the loader has its own meanwhile, and a program's function that it calls may allocate.
    fn now(added: u64) -> Loaded {
        let mut loaded = Loaded { added, code: Vec::new() };
        let data: *mut Loaded = &raw mut loaded;
        // SAFETY: `each_module` expects this value, which is not used meanwhile.
        unsafe { sys::dl_iterate_phdr(each_module, data.cast()) };
        loaded
    }
}

extern "C" fn each_module(module: *mut sys::LoadedModule, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: `Loaded::now` passes its value.
    let loaded = unsafe { &mut *data.cast::<Loaded>() };
    // SAFETY: the loader's description, which is valid during this call.
    let module = unsafe { &*module };
    if loaded.code.is_empty() && module.added == loaded.added {
        return 1;
    }
    loaded.added = module.added;
    let path = if module.name.is_null() {
        &[][..]
    } else {
        // SAFETY: the loader's text.
        unsafe { CStr::from_ptr(module.name) }.to_bytes()
    };
    for index in 0..usize::from(module.header_count) {
        // SAFETY: there are so many headers.
        let header = unsafe { &*module.headers.wrapping_add(index) };
        if header.kind == sys::LOADED && header.flags & sys::EXECUTABLE != 0 {
            #[allow(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
            let start = module.base.wrapping_add(header.address as usize);
            #[allow(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
            let end = start.wrapping_add(header.bytes as usize);
            loaded.code.push(Code { base: module.base, start, end, path: path.to_owned() });
        }
    }
    0
}
