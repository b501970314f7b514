//! What the threads share: the record and all that it is made from.

use super::{
    journal::{Code, Journal},
    loaded::Loaded,
    local::Local,
    mode::{OFF, set_mode},
    rate::{self, Rate},
    slots::{self, Slots},
    stacks::{self, Stacks, Unwound},
};
use crate::{behind::Request, sys};
use core::{ffi::c_void, mem};
use std::{
    collections::HashMap,
    env, fs,
    os::unix::ffi::OsStringExt,
    path::{self, Path, PathBuf},
};

/// The variable with the mean number of blocks between two that are recorded. Without it, the rate
/// follows the time that recording takes.
pub const EVERY: &str = "EBBTIDE_ADVISE_EVERY";

/// The ticks between two looks at the time of the process.
const RESTAMP: u64 = 1 << 23;

/// Everything under the lock.
#[derive(Debug)]
pub(crate) struct State {
    /// The folder for records.
    folder: PathBuf,
    /// The cycle counter when the program began, of which this process is a copy.
    family: u64,
    /// The number of children of `fork` before this process and of it, and whether the next is recorded.
    pub(super) forks: u64,
    pub(super) is_followed: bool,
    pub(super) journal: Journal,
    stacks: Stacks,
    pub(super) slots: Slots,
    pub(super) rate: Rate,
    /// The code that is mapped, as far as it is in the record.
    modules: Vec<Code>,
    /// The number of modules that the loader had added then.
    pub(super) added: u64,
    /// The blocks that were recorded, and those among them that are in the record of a parent.
    pub(super) births: u64,
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

impl State {
    pub(super) fn new(folder: &Path) -> Option<State> {
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
    pub(super) fn follow(&mut self) -> Option<()> {
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
    pub(super) fn number(&self, id: u64) -> Option<u64> {
        id.checked_sub(self.births_before)
    }

    /// Gives a thread its number. Returns the number of blocks until the first that is recorded.
    pub(super) fn new_thread(&mut self, local: &Local) -> i64 {
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
    pub(super) fn draw(&self, local: &Local) -> i64 {
        let (weight, mut random) = (self.rate.weight(), local.random.get());
        let wait = rate::distance(weight, &mut random);
        local.random.set(random);
        local.exponent.set(weight.ilog2());
        local.distance.set(wait + 1);
        wait
    }

    /// Records a block. `None` if there is no room for it.
    pub(super) fn born(
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
            set_mode(OFF);
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

    pub(super) fn dies(&mut self, local: &Local, [id, kept, place, since]: [u64; 4]) {
        let Some(id) = self.number(id) else { return };
        let (thread, high) = (u64::from(local.thread.get()), local.high.replace(0) as u64);
        self.journal.death(&[id, rate::ticks(), thread, kept, high, place, since]);
    }

    pub(super) fn resized(&mut self, id: u64, size: usize) {
        if let Some(id) = self.number(id) {
            self.journal.resize(id, size);
        }
    }

    /// Records what is left of the stack of the thread's latest recorded block at a later block. Returns
    /// whether there is no more to learn, because no more calls have ever been found to end.
    pub(super) fn follows(&mut self, local: &Local, unwound: &Unwound) -> bool {
        let Some(latest) = self.latest.get_mut(&local.thread.get()) else { return true };
        let (gap, kept) = (local.gap.get().unsigned_abs(), unwound.kept(&latest.callers));
        latest.fewest = latest.fewest.min(kept);
        let is_over = kept == latest.fewest && kept < latest.callers.len() as u64;
        let last = local.gap.get() + local.left.get();
        let words = [latest.id, gap, kept, local.high.replace(0) as u64, last.unsigned_abs()];
        self.journal.next(&words);
        is_over
    }

    pub(super) fn spend(&mut self, local: &Local, began: u64) {
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

    pub(super) fn knows(&self, address: usize) -> bool {
        self.modules.iter().any(|code| (code.start..code.end).contains(&address))
    }

    /// Records the code that is mapped and not in the record.
    pub(super) fn learn(&mut self, loaded: Loaded) {
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
