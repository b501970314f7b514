//! Measures whether what takes n steps takes instructions and memory in proportion to n.
//!
//! A [`Row`] does something n times, or with n elements, and is measured at n, 2n and 4n. What is
//! quadratic costs sixteen times as much at 4n, and fails. The program that measures has
//! [`Counting`] as its global allocator, or below it. Valgrind counts the instructions.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is a failure")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    process::Command,
    thread,
};

thread_local!(static HEAP: Cell<Usage> = const { Cell::new(Usage { calls: 0, live: 0, peak: 0 }) });

/// How a thread used the heap.
#[derive(Clone, Copy, Debug)]
struct Usage {
    calls: usize,
    /// Bytes. Negative if the thread freed blocks of another one.
    live: isize,
    peak: isize,
}

/// The system's allocator, which counts bytes and calls for each thread.
#[derive(Debug)]
pub struct Counting;

impl Counting {
    fn note(freed: usize, allocated: usize) {
        // A thread that is ending has no counter.
        let _ = HEAP.try_with(|heap| {
            let Usage { calls, live, peak } = heap.get();
            let live = live.wrapping_add_unsigned(allocated).wrapping_sub_unsigned(freed);
            heap.set(Usage { calls: calls + 1, live, peak: peak.max(live) });
        });
    }
}

// SAFETY: forwards to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::note(0, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Counting::note(0, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::note(layout.size(), size);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Counting::note(layout.size(), 0);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

/// Measures the part of a row that [`run`](Meter::run) is given.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    held: fn() -> usize,
    calls: usize,
    peak: usize,
}

impl Meter {
    /// Runs and measures `f`.
    pub fn run(&mut self, mut f: impl FnMut()) {
        let held = (self.held)();
        let before = HEAP.get();
        HEAP.set(Usage { peak: before.live, ..before });
        ebbtide_measured(&mut f);
        let after = HEAP.get();
        self.calls = after.calls - before.calls;
        self.peak = (after.peak - before.live).unsigned_abs();
        self.peak += (self.held)().saturating_sub(held);
    }
}

/// Runs what is measured. Valgrind counts the instructions of this function and what it calls.
// No other function has this name.
#[unsafe(no_mangle)]
#[inline(never)]
fn ebbtide_measured(f: &mut dyn FnMut()) {
    f();
}

/// A name, and what to measure for a number of steps.
pub type Row = (&'static str, fn(usize, &mut Meter));

/// Small sizes, because Valgrind and debug builds are slow.
const SIZES: [usize; 3] = [1000, 2000, 4000];

/// The most bytes of the heap that `f` uses at once, beside those from before.
pub fn peak(f: impl FnMut()) -> usize {
    let mut meter = Meter { held: || 0, calls: 0, peak: 0 };
    meter.run(f);
    meter.peak
}

/// The rows of a program.
#[derive(Debug)]
pub struct Table {
    /// The rows.
    pub rows: &'static [Row],
    /// Called before each row.
    pub begin: fn(),
    /// The bytes that are held beside those of the heap. They do not fall while a row runs.
    pub held: fn() -> usize,
}

impl Table {
    /// Measures a row at each size, in a thread of its own with a large stack, for deep recursion
    /// in debug builds.
    fn measure(&self, (_, row): &Row) -> [Meter; 3] {
        SIZES.map(|n| {
            let measure = || {
                (self.begin)();
                let mut meter = Meter { held: self.held, calls: 0, peak: 0 };
                row(n, &mut meter);
                meter
            };
            thread::scope(|scope| {
                let thread = thread::Builder::new().stack_size(256 << 20);
                thread.spawn_scoped(scope, measure).unwrap().join().unwrap()
            })
        })
    }

    /// Measures every row.
    pub fn run(&self) {
        for row in self.rows {
            self.measure(row);
        }
    }

    /// Asserts that the memory of every row, and its calls of the heap, grow in proportion to n.
    pub fn check_memory(&self) {
        let failed = self.rows.iter().filter(|row| {
            let costs = self.measure(row);
            // The sizes of chunks double, so memory grows in steps.
            let is_ok = |[small, middle, large]: [usize; 3], constant| {
                large <= 8 * small + constant && large <= 3 * middle + constant
            };
            let is_ok = is_ok(costs.each_ref().map(|cost| cost.peak), 300_000)
                && is_ok(costs.each_ref().map(|cost| cost.calls), 100);
            if !is_ok {
                let costs = costs.map(|cost| (cost.calls, cost.peak));
                println!("{}: calls of the heap and bytes {costs:?}", row.0);
            }
            !is_ok
        });
        assert_eq!(failed.count(), 0, "rows that grow faster than their size");
    }

    /// Asserts that the instructions of every row grow in proportion to n, and that a step of each
    /// row in `most` takes at most so many. `test` is the path of a test of this program that is
    /// ignored by default and calls [`run`](Table::run).
    ///
    /// The engine has work to do when time has passed, so a busy machine may add instructions to a
    /// row. A row is wrong if it takes too many in each of three runs.
    pub fn check_instructions(&self, test: &str, most: &[(&str, usize)]) {
        for (name, _) in most {
            assert!(self.rows.iter().any(|row| row.0 == *name), "no row is called {name}");
        }
        let mut failed: Vec<usize> = (0..self.rows.len()).collect();
        for _ in 0..3 {
            let counts = self.instructions(test);
            failed.retain(|&index| {
                let [small, middle, large] = counts[index];
                // The constant is for steps that cost more once the first chunk is full.
                let name = self.rows[index].0;
                let most = most.iter().find(|row| row.0 == name).map_or(usize::MAX, |row| row.1);
                let is_ok =
                    large <= 5 * small + 400 && large <= 5 * middle / 2 + 400 && small <= most;
                let verdict = if is_ok { "" } else { "  TOO MANY" };
                println!("{name:60} {small:8} {middle:8} {large:8}{verdict}");
                !is_ok
            });
            if failed.is_empty() {
                return;
            }
        }
        panic!("{} rows take more than in proportion to their size", failed.len());
    }

    /// Counts the instructions of every row at each size, divided by the smallest size.
    fn instructions(&self, test: &str) -> Vec<[usize; 3]> {
        let folder =
            std::env::temp_dir().join(format!("ebbtide-complexity-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut valgrind = Command::new("valgrind");
        // Valgrind writes a file for each call of the function.
        valgrind.args([
            "--tool=callgrind",
            "--toggle-collect=ebbtide_measured",
            "--dump-after=ebbtide_measured",
            "--main-stacksize=8000000",
        ]);
        valgrind.arg(format!("--callgrind-out-file={}", folder.join("out").display()));
        valgrind.arg(std::env::current_exe().unwrap());
        let run = valgrind.args(["--ignored", "--exact", test]).output();
        let run = run.unwrap_or_else(|error| panic!("{error}; apt-get install valgrind"));
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));

        let count = |index: usize| -> usize {
            let file = std::fs::read_to_string(folder.join(format!("out.{}", index + 1))).unwrap();
            let total = file.lines().find_map(|line| line.strip_prefix("summary: "));
            total.unwrap().trim().parse::<usize>().unwrap() / SIZES[0]
        };
        let rows = 0..self.rows.len();
        let counts = rows.map(|row| [0, 1, 2].map(|size| count(3 * row + size))).collect();
        std::fs::remove_dir_all(folder).unwrap();
        counts
    }
}
