//! Hostile backings, and values that count themselves.
//!
//! Each backing meets the contract of [`Backing`] in the least friendly way. Its log is shared with
//! the test through an [`Arc`], because the backing belongs to its arena.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

use ebbtide::{AllocError, Backing, Heap, Scope};
use proptest::test_runner::Config as ProptestConfig;
use std::{
    alloc::Layout,
    cell::{Cell, RefCell},
    collections::BTreeMap,
    env,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    process::{Command, Output},
    ptr::NonNull,
    sync::{
        Arc, Mutex, Once,
        atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst},
    },
};

/// A number of turns or values: a fiftieth of it under Miri, which is very slow, but at least 10.
pub fn fewer_under_miri(count: usize) -> usize {
    if cfg!(miri) { (count / 50).max(count.min(10)) } else { count }
}

/// The configuration of properties: runs that many cases, or what `PROPTEST_CASES` says; four under
/// Miri. Keeps no file of failures.
pub fn properties(cases: u32) -> ProptestConfig {
    let chosen = env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = chosen.unwrap_or(if cfg!(miri) { 4 } else { cases });
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The name of the test that uses it.
macro_rules! this_test {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here).strip_suffix("::here").unwrap();
        path.split_once("::").unwrap().1
    }};
}
pub(crate) use this_test;

const ROLE: &str = "EBBTIDE_TEST_ROLE";

/// Runs one test in another process, where [`role`] returns this role.
pub fn start(test: &str, role: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .output()
        .unwrap()
}

/// What this process is to do; `None` unless [`start`] started it.
pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// Leaks a value. Leak checkers do not report it, because a static holds its address.
pub fn leak<'a, T: 'a>(value: T) -> &'a mut T {
    static LEAKED: Mutex<Vec<AtomicPtr<()>>> = Mutex::new(Vec::new());
    let leaked = Box::leak(Box::new(value));
    LEAKED.lock().unwrap().push(AtomicPtr::new(std::ptr::from_mut(leaked).cast()));
    leaked
}

/// The log of a [`Watched`] backing, and the failures that it is to inject.
#[derive(Debug)]
pub struct Log {
    /// Calls of `allocate`, including failed ones.
    calls: AtomicUsize,
    /// Calls of `release`.
    releases: AtomicUsize,
    /// The call, counted from 1, from which on all fail; 0: none.
    refuse_from: AtomicUsize,
    /// The one call, counted from 1, that fails; 0: none.
    refuse_call: AtomicUsize,
    /// The one call, counted from 1, that panics; 0: none.
    panic_call: AtomicUsize,
    /// Requests above this size fail.
    most: AtomicUsize,
    /// The requested sizes, in order.
    sizes: Mutex<Vec<usize>>,
    /// The blocks in use.
    blocks: Mutex<BTreeMap<usize, Layout>>,
    /// `release` was called with a block or a layout that is not in use. Recorded instead of
    /// panicking, because `release` must not unwind.
    wrong_release: AtomicBool,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            calls: AtomicUsize::new(0),
            releases: AtomicUsize::new(0),
            refuse_from: AtomicUsize::new(0),
            refuse_call: AtomicUsize::new(0),
            panic_call: AtomicUsize::new(0),
            most: AtomicUsize::new(usize::MAX),
            sizes: Mutex::default(),
            blocks: Mutex::default(),
            wrong_release: AtomicBool::new(false),
        }
    }
}

impl Log {
    pub fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }

    pub fn releases(&self) -> usize {
        self.releases.load(SeqCst)
    }

    /// The requested sizes, in order.
    pub fn sizes(&self) -> Vec<usize> {
        self.sizes.lock().unwrap().clone()
    }

    /// The blocks in use.
    pub fn live(&self) -> usize {
        assert!(!self.wrong_release.load(SeqCst), "a block was released that was not out");
        self.blocks.lock().unwrap().len()
    }

    /// The bytes in use.
    pub fn held(&self) -> usize {
        assert!(!self.wrong_release.load(SeqCst), "a block was released that was not out");
        self.blocks.lock().unwrap().values().map(Layout::size).sum()
    }

    /// Makes only the `n`-th call from now fail (1: the next one).
    pub fn refuse_nth(&self, n: usize) {
        self.refuse_call.store(self.calls() + n, SeqCst);
    }

    /// Makes all calls fail from now on.
    pub fn refuse_all(&self) {
        self.refuse_from.store(self.calls() + 1, SeqCst);
    }

    /// Stops injecting failures.
    pub fn allow(&self) {
        self.refuse_from.store(0, SeqCst);
        self.refuse_call.store(0, SeqCst);
        self.panic_call.store(0, SeqCst);
        self.most.store(usize::MAX, SeqCst);
    }

    /// Makes the `n`-th call from now panic (1: the next one).
    pub fn panic_nth(&self, n: usize) {
        self.panic_call.store(self.calls() + n, SeqCst);
    }

    /// Makes requests above `bytes` fail.
    pub fn refuse_above(&self, bytes: usize) {
        self.most.store(bytes, SeqCst);
    }

    fn ask(&self, size: usize) -> Result<(), AllocError> {
        let call = self.calls.fetch_add(1, SeqCst) + 1;
        self.sizes.lock().unwrap().push(size);
        assert!(call != self.panic_call.load(SeqCst), "the backing panics");
        let from = self.refuse_from.load(SeqCst);
        let refused = call == self.refuse_call.load(SeqCst) || (from != 0 && call >= from);
        if refused || size > self.most.load(SeqCst) { Err(AllocError) } else { Ok(()) }
    }
}

/// Counts calls, and fails or panics as its log requests. Checks every block of the inner backing
/// for overlap, and every release for its layout.
#[derive(Debug, Default)]
pub struct Watched<B = Heap> {
    log: Arc<Log>,
    inner: B,
}

impl<B> Watched<B> {
    pub fn over(inner: B) -> (Self, Arc<Log>) {
        let log = Arc::new(Log::default());
        (Watched { log: Arc::clone(&log), inner }, log)
    }
}

/// The heap, with a log.
pub fn watched() -> (Watched, Arc<Log>) {
    Watched::over(Heap)
}

// SAFETY: the blocks of the inner backing are returned unchanged; `release` only records errors.
unsafe impl<B: Backing> Backing for Watched<B> {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.log.ask(layout.size())?;
        let block = self.inner.allocate(layout)?;
        let start = block.cast::<u8>().addr().get();
        self.log.blocks.lock().unwrap().insert(start, layout);
        Ok(block)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        self.log.releases.fetch_add(1, SeqCst);
        let out = self.log.blocks.lock().unwrap().remove(&block.addr().get());
        if out == Some(layout) {
            // SAFETY: the block came from the inner backing with this layout, and is no longer in
            // use.
            unsafe { self.inner.release(block, layout) };
        } else {
            self.log.wrong_release.store(true, SeqCst);
        }
    }
}

/// Returns more than requested, like allocators with size classes.
#[derive(Debug, Default)]
pub struct Generous;

impl Generous {
    fn enlarged(layout: Layout) -> Layout {
        Layout::from_size_align(layout.size() + 1000, layout.align()).unwrap()
    }
}

// SAFETY: blocks of the heap, larger than requested; `release` computes the same layout.
unsafe impl Backing for Generous {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Heap.allocate(Self::enlarged(layout))
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: `allocate` requested this layout from the heap.
        unsafe { Heap.release(block, Self::enlarged(layout)) };
    }
}

/// Returns blocks aligned to the requested 16 bytes, and never to 32.
#[derive(Debug, Default)]
pub struct Skewed;

impl Skewed {
    const SKEW: usize = 16;

    fn enlarged(layout: Layout) -> Layout {
        assert!(layout.align() <= Self::SKEW, "chunks ask for 16");
        Layout::from_size_align(layout.size() + Self::SKEW, 4096).unwrap()
    }
}

// SAFETY: each block is the part of a heap block from byte 16 on; `release` computes the start.
unsafe impl Backing for Skewed {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let block = Heap.allocate(Self::enlarged(layout))?.cast::<u8>();
        // SAFETY: the block is that many bytes larger than `layout`.
        let block = unsafe { block.add(Self::SKEW) };
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: `allocate` added the same number of bytes.
        let start = unsafe { block.sub(Self::SKEW) };
        // SAFETY: a block of the heap, with the layout that `allocate` requested.
        unsafe { Heap.release(start, Self::enlarged(layout)) };
    }
}

/// Returns adjacent parts of one large block: each starts where the previous one ends or,
/// downwards, ends where the previous one starts.
#[derive(Debug)]
pub struct Adjacent {
    pool: NonNull<u8>,
    bytes: usize,
    cut: Cell<usize>,
    downwards: bool,
}

// SAFETY: the pool belongs to the backing, and only its owner uses the cell.
unsafe impl Send for Adjacent {}

impl Adjacent {
    const ALIGN: usize = 4096;

    pub fn new(bytes: usize, downwards: bool) -> Self {
        let layout = Layout::from_size_align(bytes, Self::ALIGN).unwrap();
        let pool = Heap.allocate(layout).unwrap().cast();
        Adjacent { pool, bytes, cut: Cell::new(0), downwards }
    }

    /// Takes `bytes` for the test itself, where the next chunk would be.
    pub fn take(&self, bytes: usize) -> Option<NonNull<u8>> {
        let end = self.cut.get().checked_add(bytes).filter(|end| *end <= self.bytes)?;
        let offset = if self.downwards { self.bytes - end } else { self.cut.get() };
        self.cut.set(end);
        // SAFETY: `offset` is within the pool.
        Some(unsafe { self.pool.add(offset) })
    }
}

impl Drop for Adjacent {
    fn drop(&mut self) {
        let layout = Layout::from_size_align(self.bytes, Self::ALIGN).unwrap();
        // SAFETY: allocated in `new` with this layout; the arena has been dropped before.
        unsafe { Heap.release(self.pool, layout) };
    }
}

// SAFETY: blocks are disjoint parts of the pool and never returned twice. The sizes of chunks are
// multiples of 16, so each part is aligned to 16, like the pool.
unsafe impl Backing for Adjacent {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        assert!(layout.align() == 16 && layout.size() % 16 == 0, "what every chunk asks for");
        let block = self.take(layout.size()).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    unsafe fn release(&self, _block: NonNull<u8>, _layout: Layout) {}
}

thread_local! {
    static RE_ENTER: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Runs a closure of the test inside `allocate`, on the thread of the test, which uses the scope
/// that requests the chunk.
#[derive(Debug, Default)]
pub struct Reentrant;

impl Reentrant {
    /// Sets what `allocate` and `release` do first. It is removed while it runs.
    pub fn set(hook: impl Fn() + 'static) {
        RE_ENTER.set(Some(Box::new(hook)));
    }

    pub fn clear() {
        RE_ENTER.set(None);
    }

    fn call() {
        if let Some(hook) = RE_ENTER.take() {
            hook();
            RE_ENTER.set(Some(hook));
        }
    }
}

// SAFETY: the blocks of the heap, unchanged. The hook may use the arena, which the contract
// forbids: this backing tests that such a use returns an error.
unsafe impl Backing for Reentrant {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Reentrant::call();
        Heap.allocate(layout)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        Reentrant::call();
        // SAFETY: a block of the heap, with its layout.
        unsafe { Heap.release(block, layout) };
    }
}

/// Counts how many values of [`Counted`] were created and dropped.
#[derive(Debug, Default)]
pub struct Census {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

impl Census {
    /// Creates a census that lives for ever. A static refers to it, so leak checkers do not report
    /// it.
    pub fn forever() -> &'static Self {
        static ALL: Mutex<Vec<&'static Census>> = Mutex::new(Vec::new());
        let census: &'static Census = Box::leak(Box::default());
        ALL.lock().unwrap().push(census);
        census
    }

    /// A value that counts itself, and owns heap memory so that a leak checker sees it too.
    pub fn make(&self, id: usize) -> Counted<'_> {
        self.made.fetch_add(1, SeqCst);
        Counted { census: self, id: Box::new(id), dropped: false }
    }

    pub fn made(&self) -> usize {
        self.made.load(SeqCst)
    }

    pub fn live(&self) -> usize {
        self.made() - self.dropped.load(SeqCst)
    }
}

/// A value that counts itself in its [`Census`], and detects a second drop.
#[derive(Debug)]
pub struct Counted<'c> {
    census: &'c Census,
    id: Box<usize>,
    dropped: bool,
}

impl Counted<'_> {
    pub fn id(&self) -> usize {
        *self.id
    }
}

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        self.census.make(self.id())
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        assert!(!self.dropped, "dropped twice");
        self.dropped = true;
        self.census.dropped.fetch_add(1, SeqCst);
    }
}

thread_local!(static DROPPED: Cell<usize> = const { Cell::new(0) });

/// A value without bytes that counts its destructor.
#[derive(Debug)]
pub struct ZeroSized;

impl ZeroSized {
    /// The number of values dropped on this thread. Only one test of a binary can use it: without
    /// threads, all tests share the count.
    pub fn dropped() -> usize {
        DROPPED.get()
    }
}

impl Drop for ZeroSized {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + 1);
    }
}

/// An iterator with a size hint chosen by the test.
#[derive(Debug)]
pub struct Liar<I> {
    pub values: I,
    pub announced: usize,
}

impl<I: Iterator> Iterator for Liar<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.values.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.announced, Some(self.announced))
    }
}

impl<I: Iterator> ExactSizeIterator for Liar<I> {}

/// Checks that a scope still allocates usable memory, from both ends and for a chunk's worth of it.
#[track_caller]
pub fn assert_works(s: &Scope<'_>) {
    let numbers = s.alloc_slice_fill_with(700, |i| i);
    let text = s.alloc_fmt(format_args!("{}-{}", 1234, "works"));
    let aligned = s.alloc_aligned(7u8, 128);
    assert!(numbers.iter().enumerate().all(|(i, n)| i == *n));
    assert_eq!(text, "1234-works");
    assert_eq!((*aligned, std::ptr::from_mut(aligned).addr() % 128), (7, 0));
}

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// The panic message of a closure, without printing it; `None` if it returns.
pub fn panic_of<R>(run: impl FnOnce() -> R) -> Option<String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                report(info);
            }
        }));
    });
    let before = EXPECTED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    EXPECTED.set(before);
    let payload = outcome.err()?;
    let message = payload.downcast_ref::<&str>().map(|message| (*message).to_owned());
    Some(message.or_else(|| payload.downcast_ref().cloned()).unwrap_or_default())
}

/// The address of the first byte, whatever the type.
pub fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).addr()
}

/// The range of addresses of a value.
pub fn extent<T: ?Sized>(value: &T) -> Range<usize> {
    let start = address(value);
    start..start + size_of_val(value)
}

/// Whether two values are disjoint in memory.
#[track_caller]
pub fn assert_apart<T: ?Sized, U: ?Sized>(one: &T, other: &U) {
    let (one, other) = (extent(one), extent(other));
    assert!(one.end <= other.start || other.end <= one.start, "{one:x?} and {other:x?} overlap");
}

/// Ends a value or a borrow.
pub fn end<T>(_value: T) {}

/// Whether a closure panics. The message is not printed.
pub fn panics<R>(run: impl FnOnce() -> R) -> bool {
    panic_of(run).is_some()
}
