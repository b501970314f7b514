//! From the entries of a record: which frames of a block's stack were still the same call when it
//! was freed, and when its thread allocated the next block.
//!
//! A frame has ended if its thread has since called the allocator from further up the stack, if a
//! later stack shows another frame in its place, or if its caller has moved on: the recorder compares
//! where the caller stands, and the registers that its callee preserves.
//! None of these sees a call that is repeated from the same line by a caller whose registers are the
//! same, and which allocates nothing in between: such calls look like one.

use cargo_ebbtide::record::{Entry, Record, Unreadable};
use std::{collections::HashMap, fs, path::PathBuf};

/// A frame of the tree of stacks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) parent: usize,
    /// The address to which its callee returns.
    pub(crate) address: u64,
    depth: u64,
}

/// Code that was mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) base: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) path: String,
}

impl Module {
    /// So far apart are the addresses of one process from those of another, where both have other code at
    /// the same place.
    const APART: u64 = 1 << 48;

    fn overlaps(&self, other: &Module) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Where a call is in the file that returns to this address: in front of it.
    pub(crate) fn in_file(&self, address: u64) -> u64 {
        address.wrapping_sub(1).wrapping_sub(self.base)
    }
}

/// A recorded block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The innermost frame of its stack.
    pub(crate) frame: usize,
    pub(crate) size: u64,
    /// The number of blocks that it stands for.
    pub(crate) weight: f64,
    thread: u64,
    base: u64,
    /// The entries of its birth and its death.
    pub(crate) birth: usize,
    pub(crate) death: Option<usize>,
    /// The number of outermost frames that were still the same call when it was freed. 0 if it was
    /// not.
    pub(crate) alive: usize,
    /// The same at the latest [`Look`]; `usize::MAX` if there was none.
    alive_after: usize,
    /// Where the innermost of the frames ran that were the same call when it was freed; 0 if that is not
    /// known.
    pub(crate) place: u64,
    /// The number of blocks that its thread had allocated at its birth, and from then until its death.
    born: u64,
    pub(crate) age: u64,
    /// The number of outermost frames that are the same calls as for the thread's recorded block
    /// before.
    pub(crate) continued: usize,
    pub(crate) freed_by_other: bool,
    pub(crate) resizes: u64,
}

/// What was left of a recorded block's stack when its thread had allocated some more blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) block: usize,
    /// How many more, and how many there were before the thread's next recorded block.
    pub(crate) gap: u64,
    pub(crate) last: u64,
    /// The number of outermost frames that were still the same call, and at the look before.
    pub(crate) alive: usize,
    pub(crate) before: usize,
}

impl Look {
    /// A look at the same block is so many times as far away as the one before.
    pub(crate) const FARTHER: u64 = 4;
}

/// The time that the program's allocator took for some blocks, in ticks, with their weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    small: Vec<(u64, u64)>,
    large: Vec<(u64, u64)>,
}

impl Costs {
    /// From this size in bytes on, a block may be memory of the system, which takes long.
    const LARGE: u64 = 1 << 15;

    /// A block counts for at most so many times what the middle one of its kind takes: where a thread was
    /// interrupted, it waited for the processor.
    const MOST: u64 = 16;

    fn add(&mut self, size: u64, ticks: u64, weight: u64) {
        let costs = if size < Costs::LARGE { &mut self.small } else { &mut self.large };
        costs.push((ticks, weight));
    }

    /// So many say what a block takes: of fewer, the slowest one decides.
    const ENOUGH: usize = 128;

    /// The mean number of ticks for one block, without those of the clock; `None` if few were timed.
    pub(crate) fn mean(&self, clock: f64) -> Option<f64> {
        if self.small.len() + self.large.len() < Costs::ENOUGH {
            return None;
        }
        let (mut ticks, mut blocks) = (0.0, 0.0);
        for mut costs in [self.small.clone(), self.large.clone()] {
            costs.sort_unstable();
            let most = costs.get(costs.len() / 2).map_or(0, |middle| middle.0 * Costs::MOST);
            for (took, weight) in costs {
                ticks += took.min(most) as f64 * weight as f64;
                blocks += weight as f64;
            }
        }
        Some((ticks / blocks - clock).max(0.0))
    }
}

/// What records say.
#[derive(Debug, Default)]
pub(crate) struct Lifetimes {
    pub(crate) frames: Vec<Frame>,
    pub(crate) modules: Vec<Module>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) looks: Vec<Look>,
    /// The ticks from the first to the last entry of each thread, summed.
    pub(crate) ticks: u64,
    entries: usize,
    pub(crate) allocs: Costs,
    pub(crate) frees: Costs,
}

/// A process while its record is read.
struct Process {
    /// The numbers of its frames and its blocks follow on these.
    frames: usize,
    blocks: usize,
    /// Its code, and what is added to the addresses there.
    code: Vec<(Module, u64)>,
    threads: HashMap<u64, Heights>,
}

impl Process {
    fn frame(&self, id: u64) -> usize {
        if id == 0 { 0 } else { self.frames.saturating_add(id as usize) }
    }

    fn block(&self, id: u64) -> usize {
        self.blocks.saturating_add(id as usize)
    }

    fn address(&self, address: u64) -> u64 {
        let is_there = |(module, _): &&(Module, u64)| (module.start..module.end).contains(&address);
        let moved = self.code.iter().rev().find(is_there).map_or(0, |(_, moved)| *moved);
        address.wrapping_add(moved)
    }
}

/// The positions of one thread's stack, at its entries.
#[derive(Default)]
struct Heights {
    /// Entries with the shallowest position since the entry before, so that each is deeper than
    /// those in front of it.
    falling: Vec<(usize, u64)>,
    /// The number of the latest recorded block.
    latest: Option<usize>,
    recorded: u64,
    /// The blocks up to the latest recorded one, and what the recorded ones stand for by chance.
    blocks: u64,
    weights: f64,
    /// The cycle counter at the first and the latest entry.
    ticks: Option<(u64, u64)>,
}

impl Heights {
    /// So many recorded blocks tell how many blocks there were: fewer of a thread than were drawn, as
    /// a thread ends in the middle of a distance.
    const ENOUGH: u64 = 32;

    /// What makes the sum of the weights the number of the thread's blocks.
    fn correction(&self) -> f64 {
        if self.recorded < Heights::ENOUGH { 1.0 } else { self.blocks as f64 / self.weights }
    }

    fn see(&mut self, ticks: u64) {
        self.ticks = Some((self.ticks.map_or(ticks, |seen| seen.0), ticks));
    }

    fn add(&mut self, entry: usize, high: u64) {
        while self.falling.last().is_some_and(|last| last.1 <= high) {
            self.falling.pop();
        }
        self.falling.push((entry, high));
    }

    /// The shallowest position after an entry.
    fn since(&self, entry: usize) -> u64 {
        let first = self.falling.partition_point(|other| other.0 <= entry);
        self.falling.get(first).map_or(0, |found| found.1)
    }
}

impl Lifetimes {
    /// Reads the records of a program's processes.
    pub(crate) fn of(
        records: &[Record<'_>],
        same_function: impl Fn(&[Module], u64, u64) -> bool,
    ) -> Result<Lifetimes, Unreadable> {
        let mut lifetimes = Lifetimes { frames: vec![Frame::default()], ..Lifetimes::default() };
        for (number, record) in records.iter().enumerate() {
            lifetimes.add(number as u64, record, &same_function)?;
        }
        Ok(lifetimes)
    }

    /// Adds the record of a process. Its numbers follow on those of the others.
    fn add(
        &mut self,
        number: u64,
        record: &Record<'_>,
        same_function: &impl Fn(&[Module], u64, u64) -> bool,
    ) -> Result<(), Unreadable> {
        let mut process = Process {
            frames: self.frames.len() - 1,
            blocks: self.blocks.len(),
            code: Vec::new(),
            threads: HashMap::new(),
        };
        let first = self.entries;
        for (at, entry) in record.entries().enumerate() {
            let at = first + at;
            self.entries = at + 1;
            let entry = entry?;
            match entry {
                Entry::Module { base, start, end, path } => {
                    let path = String::from_utf8_lossy(path).into_owned();
                    process.code.push(self.place(Module { base, start, end, path }, number));
                }
                Entry::Frame { parent, address, depth, .. } => {
                    let (parent, address) = (process.frame(parent), process.address(address));
                    self.frames.push(Frame { parent, address, depth });
                }
                Entry::Birth { .. } => self.bear(at, &entry, &mut process, same_function),
                Entry::Next { id, gap, kept, high, last } => {
                    let id = process.block(id);
                    let Some(block) = self.blocks.get(id).copied() else { continue };
                    let heights = process.threads.entry(block.thread).or_default();
                    heights.add(at, high);
                    let alive = self.alive(&block, heights.since(block.birth), kept);
                    let before = block.alive_after;
                    self.blocks[id].alive_after = alive;
                    self.looks.push(Look { block: id, gap, last, alive, before });
                }
                Entry::Death { .. } => self.die(at, &entry, &mut process),
                Entry::End { thread, distance } => {
                    let heights = process.threads.entry(thread).or_default();
                    heights.blocks = heights.blocks.saturating_add(distance);
                }
                Entry::Resize { id, .. } => {
                    if let Some(block) = self.blocks.get_mut(process.block(id)) {
                        block.resizes += 1;
                    }
                }
                Entry::Cost { is_free, size, ticks, weight } => {
                    let costs = if is_free { &mut self.frees } else { &mut self.allocs };
                    costs.add(size, ticks, weight);
                }
            }
        }
        let Process { blocks, threads, .. } = process;
        let spans = threads.values().filter_map(|heights| heights.ticks);
        self.ticks += spans.map(|(first, latest)| latest.saturating_sub(first)).sum::<u64>();
        for block in &mut self.blocks[blocks..] {
            block.weight *= threads.get(&block.thread).map_or(1.0, Heights::correction);
        }
        Ok(())
    }

    /// Adds code of a process, and returns it with what is added to its addresses.
    fn place(&mut self, module: Module, process: u64) -> (Module, u64) {
        let is_taken = |other: &Module| other.overlaps(&module) && *other != module;
        let moved =
            if self.modules.iter().any(is_taken) { process.wrapping_mul(Module::APART) } else { 0 };
        let place = |address: u64| address.wrapping_add(moved);
        let Module { base, start, end, .. } = module;
        let placed =
            Module { base: place(base), start: place(start), end: place(end), ..module.clone() };
        if !self.modules.contains(&placed) {
            self.modules.push(placed);
        }
        (module, moved)
    }

    /// A block is allocated.
    fn bear(
        &mut self,
        at: usize,
        entry: &Entry<'_>,
        process: &mut Process,
        same_function: &impl Fn(&[Module], u64, u64) -> bool,
    ) {
        let &Entry::Birth { ticks, thread, frame, base, size, weight, kept, high, distance } =
            entry
        else {
            return;
        };
        let frame = process.frame(frame);
        let heights = process.threads.entry(thread).or_default();
        heights.see(ticks);
        heights.recorded += 1;
        heights.blocks = heights.blocks.saturating_add(distance);
        heights.weights += weight as f64;
        let before = heights.latest.replace(self.blocks.len());
        let before = before.map(|before| self.blocks[before]);
        let replaced = before
            .filter(|before| before.base == base)
            .map_or(0, |before| self.replaced(before.frame, frame, base, same_function));
        heights.add(at, high.max(replaced));
        let continued =
            before.map_or(0, |before| self.alive(&before, heights.since(before.birth), kept));
        self.blocks.push(Block {
            frame,
            size,
            weight: weight as f64,
            thread,
            base,
            birth: at,
            alive: 0,
            alive_after: usize::MAX,
            place: 0,
            born: heights.blocks,
            age: 0,
            continued,
            death: None,
            freed_by_other: false,
            resizes: 0,
        });
    }

    /// A block is freed.
    fn die(&mut self, at: usize, entry: &Entry<'_>, process: &mut Process) {
        let &Entry::Death { id, ticks, thread, kept, high, place, since } = entry else { return };
        let (id, place) = (process.block(id), process.address(place));
        let heights = process.threads.entry(thread).or_default();
        heights.see(ticks);
        heights.add(at, high);
        let Some(block) = self.blocks.get(id).copied() else { return };
        let is_own = thread == block.thread;
        let (kept, since) = if is_own { (kept, since) } else { (u64::MAX, 0) };
        let heights = process.threads.entry(block.thread).or_default();
        let alive = self.alive(&block, heights.since(block.birth), kept);
        let now = heights.blocks.saturating_add(since);
        // Callers stand still below the frame that has called something else meanwhile: so it is where it was.
        let stands = is_own && (alive as u64) < kept;
        let stood =
            || alive.checked_sub(1).and_then(|last| self.path(block.frame).get(last).copied());
        let place =
            if stands { stood().map_or(0, |last| self.frames[last].address) } else { place };
        let dead = &mut self.blocks[id];
        (dead.alive, dead.death, dead.freed_by_other) = (alive, Some(at), !is_own);
        (dead.place, dead.age) = (place, now.saturating_sub(block.born));
    }

    /// The files of the modules, without links; the program's is the first.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for module in &self.modules {
            files.extend(fs::canonicalize(&module.path).ok().filter(|file| !files.contains(file)));
        }
        files
    }

    /// The frames of a stack, from the outermost on.
    pub(crate) fn path(&self, frame: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = frame;
        while at != 0 {
            path.push(at);
            at = self.frames[at].parent;
        }
        path.reverse();
        path
    }

    /// The frames of a stack with their ends, from the outermost on, whose end is not known.
    fn ends(&self, frame: usize, base: u64) -> Vec<(usize, u64)> {
        let mut end = base;
        let path = self.path(frame).into_iter().enumerate();
        path.map(|(index, frame)| {
            end = end.saturating_sub(self.frames[frame].depth);
            (frame, if index == 0 { u64::MAX } else { end })
        })
        .collect()
    }

    /// The number of outermost frames that are still the same call.
    fn alive(&self, block: &Block, high: u64, kept: u64) -> usize {
        let ends = self.ends(block.frame, block.base);
        let above = ends.iter().take_while(|(_, end)| *end > high).count();
        above.min(usize::try_from(kept).unwrap_or(usize::MAX))
    }

    /// Where the outermost frame ends that a later stack of the same thread shows to have ended; 0
    /// if none.
    fn replaced(
        &self,
        before: usize,
        after: usize,
        base: u64,
        same_function: &impl Fn(&[Module], u64, u64) -> bool,
    ) -> u64 {
        let (before, after) = (self.ends(before, base), self.ends(after, base));
        let common = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let (Some(old), Some(new)) = (before.get(common), after.get(common)) else {
            return before.get(common).map_or(0, |old| old.1);
        };
        let (old_address, new_address) = (self.frames[old.0].address, self.frames[new.0].address);
        if old.1 == new.1 && same_function(&self.modules, old_address, new_address) {
            // The same call, which is elsewhere now: what it had called has ended.
            return before.get(common + 1).map_or(0, |callee| callee.1);
        }
        old.1
    }
}
