//! Arenas for many threads.
//!
//! A pool keeps idle arenas in *shards*, each a stack behind its own lock. It uses as many shards
//! as the machine runs threads at a time. A thread takes an arena from the shard that its number
//! selects, and searches the others only if that one is empty or locked. An arena goes back to the
//! shard it came from. Threads rarely contend for a lock as long as no more of them run than there
//! are shards.
//!
//! No memory is allocated or freed while a lock is held, and no thread waits until another one has
//! initialised something, because a global allocator may itself use a pool.
#![forbid(unsafe_code)]

use crate::{
    arena::{Arena, Retain},
    backing::{Backing, Heap},
    error::{AllocError, Failure},
    scope::Scope,
    stats::Stats,
};
#[cfg(loom)]
use core::array;
use core::{cell::Cell, convert::Infallible, fmt, mem, sync::atomic::Ordering::Relaxed};
#[cfg(loom)]
use loom::{
    sync::{Mutex, MutexGuard, atomic::AtomicUsize},
    thread_local,
};
use std::{
    boxed::Box,
    sync::{PoisonError, TryLockError},
    vec::Vec,
};
#[cfg(not(loom))]
use std::{
    sync::{Mutex, MutexGuard, atomic::AtomicUsize},
    thread, thread_local,
};

/// Arenas that many threads, or many futures, take turns to use.
///
/// [`get`](Pool::get) lends an arena until it is dropped. The arena is then reset and stays warm
/// for the next borrower. A pool is `Sync`, and [`new`](Pool::new) is `const`: keep it in a
/// `static`, or in the state of a server. It takes 4 KiB itself.
///
/// A pool makes about as many arenas as are lent at the same time. If threads contend for a lock,
/// one of them may get a new arena although another arena is idle. Even then, there are at most as
/// many arenas per processor core as were lent at the same time.
///
/// ```
/// use ebbtide::Pool;
/// use std::thread;
///
/// static ARENAS: Pool = Pool::new();
///
/// let sums = thread::scope(|threads| {
///     let workers = [10, 20, 30].map(|n| {
///         let sum = move || ARENAS.scope(|s| s.alloc_slice_fill_copy(n, 1).iter().sum::<i32>());
///         threads.spawn(sum)
///     });
///     workers.map(|worker| worker.join().unwrap())
/// });
/// assert_eq!(sums, [10, 20, 30]);
/// ```
///
/// A lent arena belongs to its borrower alone. If the borrower panics, the arena returns to the
/// pool, which stays usable. If the loan is forgotten, the pool loses the arena; nothing else
/// happens.
///
/// Results that outlive the loan go to a [`root`](Pool::root): they live as long as the pool is
/// borrowed, until its [`reset`](Pool::reset).
pub struct Pool<B: Backing = Heap> {
    shards: [Shard<B>; SHARDS],
    chunk_size: Option<usize>,
    /// Cloned for each arena.
    backing: B,
}

/// The largest number of shards, a power of two. Smaller machines use fewer.
const SHARDS: usize = if cfg!(loom) { 2 } else { 32 };

/// An arena and, while it is idle, the one below it in the stack. It stays in its box, so lending
/// moves a pointer, and a stack needs no memory of its own. Aligned to a cache line, which an arena
/// is not: threads with neighbouring nodes would write to the same line.
#[repr(align(64))]
struct Node<B: Backing> {
    arena: Arena<B>,
    below: Option<BoxedNode<B>>,
}

/// An array of one, because only a vector can be allocated fallibly and safely.
type BoxedNode<B> = Box<[Node<B>; 1]>;

/// The arenas of a shard that are not lent.
struct Idle<B: Backing> {
    /// Those that hold nothing.
    empty: Stack<B>,
    /// Those whose root holds results. The results borrow the pool.
    rooted: Stack<B>,
}

impl<B: Backing> Idle<B> {
    const fn new() -> Self {
        Idle { empty: Stack::new(), rooted: Stack::new() }
    }
}

/// A stack of arenas.
struct Stack<B: Backing> {
    top: Option<BoxedNode<B>>,
}

impl<B: Backing> Stack<B> {
    const fn new() -> Self {
        Stack { top: None }
    }

    fn push(&mut self, mut node: BoxedNode<B>) {
        node[0].below = self.top.take();
        self.top = Some(node);
    }

    fn pop(&mut self) -> Option<BoxedNode<B>> {
        let mut node = self.top.take()?;
        self.top = node[0].below.take();
        Some(node)
    }

    fn iter(&self) -> impl Iterator<Item = &Arena<B>> {
        let nodes = core::iter::successors(self.top.as_ref(), |node| node[0].below.as_ref());
        nodes.map(|node| &node[0].arena)
    }
}

/// Frees one node at a time. The default destructor would recurse into the node below.
impl<B: Backing> Drop for Stack<B> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

/// Idle arenas behind a lock. Aligned to two cache lines, because processors prefetch them in
/// pairs.
#[repr(align(128))]
struct Shard<B: Backing> {
    idle: Mutex<Idle<B>>,
    #[cfg(loom)]
    passers: AtomicUsize,
}

impl<B: Backing> Shard<B> {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Shard { idle: Mutex::new(Idle::new()) }
    }

    #[cfg(loom)]
    fn new() -> Self {
        Shard { idle: Mutex::new(Idle::new()), passers: AtomicUsize::new(0) }
    }

    /// Waits for the lock. The stack is consistent even if it is poisoned: a panic cannot interrupt
    /// a push or a pop.
    fn lock(&self) -> MutexGuard<'_, Idle<B>> {
        self.pass();
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.pass();
        idle
    }

    /// Takes an arena from one of the stacks, unless somebody holds the lock.
    fn try_pop(&self, stack: Choice<B>) -> Option<BoxedNode<B>> {
        self.pass();
        let mut idle = match self.idle.try_lock() {
            Ok(idle) => idle,
            Err(TryLockError::Poisoned(idle)) => idle.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.pass();
        stack(&mut idle).pop()
    }

    /// Lets loom switch threads before a lock is taken and while it is held: loom switches only
    /// where threads access something that they share. Does nothing without loom.
    #[inline(always)]
    fn pass(&self) {
        #[cfg(loom)]
        self.passers.fetch_add(1, Relaxed);
    }
}

/// Chooses a stack of a shard.
type Choice<B> = fn(&mut Idle<B>) -> &mut Stack<B>;

fn empty<B: Backing>(idle: &mut Idle<B>) -> &mut Stack<B> {
    &mut idle.empty
}

fn rooted<B: Backing>(idle: &mut Idle<B>) -> &mut Stack<B> {
    &mut idle.rooted
}

#[cfg(not(loom))]
thread_local! {
    /// The number of this thread, counted from 1; 0 until it has one.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

#[cfg(loom)]
thread_local! {
    static NUMBER: Cell<usize> = Cell::new(0);
}

/// The number that the last thread was given.
#[cfg(not(loom))]
static LAST: AtomicUsize = AtomicUsize::new(0);

#[cfg(loom)]
loom::lazy_static! {
    static ref LAST: AtomicUsize = AtomicUsize::new(0);
}

/// The number of this thread, which no other thread has.
#[inline]
fn thread_number() -> usize {
    match NUMBER.with(Cell::get) {
        0 => new_number(),
        number => number,
    }
}

#[cold]
#[inline]
fn new_number() -> usize {
    // Relaxed, because only the number matters. If it wraps to 0, the thread draws another one.
    let number = LAST.fetch_add(1, Relaxed).wrapping_add(1);
    NUMBER.with(|own| own.set(number));
    number
}

/// The number of shards in use: the number of threads that the machine runs at a time, rounded up
/// to a power of two.
#[cfg(not(loom))]
#[inline]
fn shards_in_use() -> usize {
    /// 0 until a thread asks the system.
    static IN_USE: AtomicUsize = AtomicUsize::new(0);

    #[cold]
    #[inline]
    fn ask_system() -> usize {
        // Until the answer is there, all threads use one shard, this one included: asking the
        // system may allocate, and the global allocator may use a pool. Any number is correct at
        // any time, because an arena goes back to the shard it came from.
        IN_USE.store(1, Relaxed);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let in_use = threads.min(SHARDS).next_power_of_two();
        IN_USE.store(in_use, Relaxed);
        in_use
    }

    match IN_USE.load(Relaxed) {
        0 => ask_system(),
        in_use => in_use,
    }
}

#[cfg(loom)]
fn shards_in_use() -> usize {
    SHARDS
}

/// Takes an arena from a shard other than the thread's own. If there is none, waits for the lock of
/// the thread's own shard and tries that again.
fn find_in_others<B: Backing>(
    shards: &[Shard<B>],
    own: usize,
    stack: Choice<B>,
) -> Option<(BoxedNode<B>, &Shard<B>)> {
    for distance in 1..shards.len() {
        let shard = &shards[(own + distance) & (shards.len() - 1)];
        if let Some(node) = shard.try_pop(stack) {
            return Some((node, shard));
        }
    }
    // The thread's own shard may have been locked only because another thread gave an arena back. A
    // shard gets a new arena only if all of its arenas are lent. So it never owns more than were
    // lent at the same time, whichever shards were locked above.
    let popped = stack(&mut shards[own].lock()).pop();
    popped.map(|node| (node, &shards[own]))
}

impl Pool {
    /// An empty pool. Takes no memory of the heap until the first arena is lent.
    ///
    /// ```
    /// static POOL: ebbtide::Pool = ebbtide::Pool::new(); // shared by all threads
    /// assert_eq!(POOL.scope(|s| *s.alloc(1)), 1);
    /// ```
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Pool::new_in(Heap)
    }

    /// An empty pool whose arenas' first chunks have room for `bytes` bytes; see
    /// [`Arena::with_chunk_size`].
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// static ARENAS: Pool = Pool::with_chunk_size(1 << 20);
    /// assert_eq!(ARENAS.scope(|s| s.stats().capacity), 1 << 20);
    /// ```
    #[cfg(not(loom))]
    #[must_use]
    pub const fn with_chunk_size(bytes: usize) -> Self {
        Pool::with_chunk_size_in(bytes, Heap)
    }

    /// The same for models, in which a lock cannot be made at compile time.
    #[cfg(loom)]
    pub fn with_chunk_size(bytes: usize) -> Self {
        let shards = array::from_fn(|_| Shard::new());
        Pool { shards, chunk_size: Some(bytes), backing: Heap }
    }
}

#[cfg(not(loom))]
impl<B: Backing> Pool<B> {
    /// Like [`new`](Pool::new), with a custom backing, which is cloned for each arena.
    ///
    /// ```
    /// # use ebbtide::{Heap, Pool};
    /// let pool = Pool::new_in(Heap);
    /// assert_eq!(pool.scope(|s| *s.alloc(1)), 1);
    /// ```
    #[must_use]
    pub const fn new_in(backing: B) -> Self {
        Pool { shards: [const { Shard::new() }; SHARDS], chunk_size: None, backing }
    }

    /// Like [`with_chunk_size`](Pool::with_chunk_size), with a custom backing, which is cloned for
    /// each arena.
    ///
    /// ```
    /// # use ebbtide::{Heap, Pool};
    /// let pool = Pool::with_chunk_size_in(1000, Heap);
    /// assert!(pool.scope(|s| s.stats().capacity) >= 1000);
    /// ```
    #[must_use]
    pub const fn with_chunk_size_in(bytes: usize, backing: B) -> Self {
        Pool { shards: [const { Shard::new() }; SHARDS], chunk_size: Some(bytes), backing }
    }
}

impl<B: Backing + Clone> Pool<B> {
    /// Lends an arena: an idle one, or a new one. It comes back when the [`Pooled`] is dropped, on
    /// any thread.
    ///
    /// # Panics
    ///
    /// Never. A heap without memory for a new arena is reported to `handle_alloc_error`.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let pool = Pool::new();
    /// let mut arena = pool.get();
    /// let s = arena.scope();
    /// assert_eq!(*s.alloc(1), 1);
    /// ```
    pub fn get(&self) -> Pooled<'_, B> {
        let Ok(lent) = self.lend::<Infallible>();
        lent
    }

    /// Fallible version of [`get`](Pool::get).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if no arena is idle and the heap has no memory for a new one. The arena's
    /// first chunk is made when a scope opens: see [`Pooled::try_scope`].
    ///
    /// ```
    /// let pool = ebbtide::Pool::new();
    /// assert!(pool.try_get()?.scope().try_alloc(1).is_ok());
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_get(&self) -> Result<Pooled<'_, B>, AllocError> {
        self.lend()
    }

    #[inline]
    fn lend<F: Failure>(&self) -> Result<Pooled<'_, B>, F> {
        let (shards, own) = self.shards_and_own();
        // A statement of its own, so that no lock is held while the other shards are searched.
        let popped = shards[own].try_pop(empty);
        let (node, shard) = match popped {
            Some(node) => (node, &shards[own]),
            None => self.lend_other::<F>(shards, own)?,
        };
        Ok(Pooled::new(node, shard))
    }

    /// The shards in use, and the number of the thread's own.
    fn shards_and_own(&self) -> (&[Shard<B>], usize) {
        let shards = &self.shards[..shards_in_use().min(SHARDS)];
        (shards, thread_number() & (shards.len() - 1))
    }

    /// Lends an arena of another shard, or a new one that will go to the thread's own.
    #[cold]
    fn lend_other<'p, F: Failure>(
        &self,
        shards: &'p [Shard<B>],
        own: usize,
    ) -> Result<(BoxedNode<B>, &'p Shard<B>), F> {
        if let Some(found) = find_in_others(shards, own, empty) {
            return Ok(found);
        }
        let node = self.new_node()?;
        Ok((node, &shards[own]))
    }

    /// Lends an arena for its root: one whose root holds results already, if one is idle.
    pub(crate) fn lend_root<F: Failure>(&self) -> Result<RootLoan<'_, B>, F> {
        let (shards, own) = self.shards_and_own();
        let popped = shards[own].try_pop(rooted);
        let found = match popped {
            Some(node) => Some((node, &shards[own])),
            None => find_in_others(shards, own, rooted),
        };
        if let Some((node, shard)) = found {
            return Ok(RootLoan { node: Some(node), shard });
        }
        let mut lent = self.lend::<F>()?;
        Ok(RootLoan { node: lent.node.take(), shard: lent.shard })
    }

    fn new_node<F: Failure>(&self) -> Result<BoxedNode<B>, F> {
        let mut node = Vec::new();
        if F::DIVERGES {
            node.reserve_exact(1);
        } else if node.try_reserve_exact(1).is_err() {
            return Err(F::refused());
        }
        let backing = self.backing.clone();
        let arena = match self.chunk_size {
            Some(bytes) => Arena::with_chunk_size_in(bytes, backing),
            None => Arena::new_in(backing),
        };
        node.push(Node { arena, below: None });
        match node.into_boxed_slice().try_into() {
            Ok(node) => Ok(node),
            Err(_) => unreachable!("one node was pushed"),
        }
    }

    /// Runs `f` with a scope of an arena of the pool.
    ///
    /// # Panics
    ///
    /// Only if `f` does.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let pool = Pool::new();
    /// assert_eq!(pool.scope(|s| s.alloc_str("ebb").len()), 3);
    /// ```
    pub fn scope<R>(&self, f: impl for<'s> FnOnce(Scope<'s>) -> R) -> R {
        f(self.get().scope())
    }

    /// Fallible version of [`scope`](Pool::scope).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if no arena is idle and the heap has no memory for a new one. `f` did not run
    /// then.
    ///
    /// # Panics
    ///
    /// Only if `f` does.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let pool = Pool::new();
    /// let len = pool.try_scope(|s| s.try_alloc_str("ebb").map(|ebb| ebb.len()));
    /// assert_eq!(len, Ok(Ok(3)));
    /// ```
    pub fn try_scope<R>(&self, f: impl for<'s> FnOnce(Scope<'s>) -> R) -> Result<R, AllocError> {
        Ok(f(self.try_get()?.try_scope()?))
    }

    /// Runs `f` with each of `items` and a scope of its own, and returns the results in order. One
    /// arena serves all items.
    ///
    /// # Panics
    ///
    /// Only if `f` or `items` does.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let pool = Pool::new();
    /// let lengths = pool.map([1, 22, 333], |s, n| s.alloc_fmt(format_args!("{n}")).len());
    /// assert_eq!(lengths, [1, 2, 3]);
    /// ```
    pub fn map<T, R>(
        &self,
        items: impl IntoIterator<Item = T>,
        mut f: impl for<'s> FnMut(Scope<'s>, T) -> R,
    ) -> Vec<R> {
        let mut arena = self.get();
        items.into_iter().map(|item| f(arena.scope(), item)).collect()
    }

    /// Like [`map`](Pool::map), but stops at the first error.
    ///
    /// # Errors
    ///
    /// The first one that `f` returns, or the conversion of [`AllocError`] if there is no memory
    /// for an arena, its first chunk or the results.
    ///
    /// # Panics
    ///
    /// Only if `f` or `items` does.
    ///
    /// ```
    /// # use ebbtide::{AllocError, Pool};
    /// let pool = Pool::new();
    /// let double = |s: ebbtide::Scope<'_>, text: &str| s.try_alloc_str(text).map(|text| text.len());
    /// assert_eq!(pool.try_map(["ebb", "flow"], double), Ok(vec![3, 4]));
    /// let refused = pool.try_map([1, 2], |_, n| if n == 2 { Err(AllocError) } else { Ok(n) });
    /// assert_eq!(refused, Err(AllocError));
    /// ```
    pub fn try_map<T, R, E: From<AllocError>>(
        &self,
        items: impl IntoIterator<Item = T>,
        mut f: impl for<'s> FnMut(Scope<'s>, T) -> Result<R, E>,
    ) -> Result<Vec<R>, E> {
        let mut arena = self.try_get()?;
        let mut results = Vec::new();
        for item in items {
            let result = f(arena.try_scope()?, item)?;
            results.try_reserve(1).map_err(|_| AllocError)?;
            results.push(result);
        }
        Ok(results)
    }

    /// Like [`map`](Pool::map), but on all threads of the current rayon pool. The results are in
    /// order. A few arenas per thread serve all items.
    ///
    /// # Panics
    ///
    /// If `f` does; rayon resumes the first panic that it sees, and some items may not be visited.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let pool = Pool::new();
    /// let sums = pool.par_map(0..1000_usize, |s, n| {
    ///     s.alloc_slice_fill_with(n, |i| i).iter().sum::<usize>()
    /// });
    /// assert_eq!(sums[999], 999 * 998 / 2);
    /// ```
    #[cfg(feature = "rayon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
    pub fn par_map<T, R, I>(&self, items: I, f: impl for<'s> Fn(Scope<'s>, T) -> R + Sync) -> Vec<R>
    where
        I: rayon::iter::IntoParallelIterator<Item = T>,
        T: Send,
        R: Send,
        B: Sync,
    {
        use rayon::iter::ParallelIterator;
        let items = items.into_par_iter();
        items.map_init(|| self.get(), |arena, item| f(arena.scope(), item)).collect()
    }

    /// Like [`try_map`](Pool::try_map), but on all threads of the current rayon pool. After an
    /// error, items that no thread has started are skipped.
    ///
    /// # Errors
    ///
    /// One that `f` returned, not always the first, or the conversion of [`AllocError`] if there is
    /// no memory for an arena or its first chunk.
    ///
    /// # Panics
    ///
    /// If `f` does. A heap without memory for the results is reported to `handle_alloc_error`.
    ///
    /// ```
    /// # use ebbtide::{AllocError, Pool};
    /// let pool = Pool::new();
    /// let squares = pool.try_par_map(0..100, |_, n: u32| n.checked_mul(n).ok_or(AllocError));
    /// assert_eq!(squares.unwrap()[99], 9801);
    /// let refused = pool.try_par_map(0..100, |_, n| if n == 50 { Err(AllocError) } else { Ok(n) });
    /// assert!(refused.is_err());
    /// ```
    #[cfg(feature = "rayon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
    pub fn try_par_map<T, R, E, I>(
        &self,
        items: I,
        f: impl for<'s> Fn(Scope<'s>, T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E>
    where
        I: rayon::iter::IntoParallelIterator<Item = T>,
        T: Send,
        R: Send,
        E: From<AllocError> + Send,
        B: Sync,
    {
        use rayon::iter::ParallelIterator;
        let items = items.into_par_iter();
        let results = items.map_init(
            || self.try_get(),
            |arena, item| match arena {
                Ok(arena) => f(arena.try_scope()?, item),
                Err(error) => Err(E::from(*error)),
            },
        );
        results.collect()
    }
}

impl<B: Backing> Pool<B> {
    /// The sum of the statistics of all idle arenas. Lent arenas do not count.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let pool = Pool::with_chunk_size(10_000);
    /// pool.scope(|_| assert_eq!(pool.stats().capacity, 0));
    /// assert_eq!(pool.stats().capacity, 10_000);
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut sum = Stats::default();
        for shard in &self.shards {
            let idle = shard.lock();
            for arena in idle.empty.iter().chain(idle.rooted.iter()) {
                sum += arena.stats();
            }
        }
        sum
    }

    /// Frees all memory of the idle arenas that hold no results. Lent arenas are not affected, and
    /// come back.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let pool = Pool::new();
    /// pool.scope(|s| s.alloc_slice_fill_copy(100_000, 0u8).len());
    /// assert!(pool.stats().held >= 100_000);
    /// pool.trim();
    /// assert_eq!(pool.stats().held, 0);
    /// ```
    pub fn trim(&self) {
        for shard in &self.shards {
            let idle = mem::replace(&mut shard.lock().empty, Stack::new());
            // The lock is free again when the heap is called.
            drop(idle);
        }
    }
}

impl<B: Backing> Pool<B> {
    /// Frees all results that [roots](Pool::root) of the pool hold. The memory stays for the next
    /// loans.
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// let mut pool = Pool::new();
    /// pool.root().alloc([0u8; 100]);
    /// assert_eq!(pool.stats().used, 100);
    /// pool.reset();
    /// assert_eq!(pool.stats().used, 0);
    /// ```
    pub fn reset(&mut self) {
        for shard in &self.shards {
            let mut idle = shard.lock();
            while let Some(mut node) = idle.rooted.pop() {
                node[0].arena.reset();
                idle.empty.push(node);
            }
        }
    }
}

#[cfg(not(loom))]
impl Default for Pool {
    fn default() -> Self {
        Pool::new()
    }
}

impl<B: Backing> fmt::Debug for Pool<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

/// An arena lent by a [`Pool`]. Dropping it gives the arena back.
///
/// It is `Send`, and so is its scope: a future may own the arena and hold a scope across `.await`.
///
/// ```
/// use ebbtide::Pool;
///
/// async fn read() -> u8 { 7 }
///
/// async fn handle(pool: &Pool) -> usize {
///     let mut arena = pool.get();
///     let s = arena.scope();
///     let head = s.alloc_slice_fill_copy(100, 1);
///     let byte = read().await; // awaited before `s` is borrowed, so the future is `Send`
///     let body = s.alloc(byte);
///     head.len() + usize::from(*body)
/// }
///
/// fn is_send(_: impl Send) {}
/// is_send(handle(&Pool::new()));
/// ```
#[must_use]
pub struct Pooled<'p, B: Backing = Heap> {
    /// `None` only while this is dropped.
    node: Option<BoxedNode<B>>,
    /// The shard that the arena goes back to.
    shard: &'p Shard<B>,
}

impl<'p, B: Backing> Pooled<'p, B> {
    #[inline]
    fn new(mut node: BoxedNode<B>, shard: &'p Shard<B>) -> Self {
        node[0].arena.reset_high_water();
        Pooled { node: Some(node), shard }
    }

    /// Opens a scope; see [`Arena::scope`].
    ///
    /// # Panics
    ///
    /// Never. A heap without memory for the first chunk is reported to `handle_alloc_error`.
    ///
    /// ```
    /// # let pool = ebbtide::Pool::new();
    /// let mut arena = pool.get();
    /// for turn in 0..10 {
    ///     let s = arena.scope();
    ///     assert_eq!(s.alloc([turn; 100])[99], turn);
    /// }
    /// ```
    #[inline]
    pub fn scope(&mut self) -> Scope<'_> {
        self.arena().scope()
    }

    /// Fallible version of [`scope`](Pooled::scope).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no first chunk and the heap has no memory for one.
    ///
    /// ```
    /// let pool = ebbtide::Pool::new();
    /// assert!(pool.get().try_scope()?.try_alloc(1).is_ok());
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_scope(&mut self) -> Result<Scope<'_>, AllocError> {
        self.arena().try_scope()
    }

    #[inline]
    fn arena(&mut self) -> &mut Arena<B> {
        match &mut self.node {
            Some(node) => &mut node[0].arena,
            None => unreachable!("the arena is there until it is given back"),
        }
    }

    /// Limits the number of bytes that the arena may hold of its backing until it is given back;
    /// `None` for no limit. If the arena holds more from an earlier loan, the excess is freed.
    ///
    /// ```
    /// # let pool = ebbtide::Pool::new();
    /// pool.scope(|s| s.alloc_slice_fill_copy(1_000_000, 0u8).len());
    /// let mut arena = pool.get();
    /// arena.set_limit(Some(100_000));
    /// let s = arena.scope();
    /// assert!(s.try_alloc_slice_fill_copy(200_000, 0u8).is_err());
    /// assert!(s.try_alloc_slice_fill_copy(50_000, 0u8).is_ok());
    /// ```
    pub fn set_limit(&mut self, bytes: Option<usize>) {
        let arena = self.arena();
        if let Some(bytes) = bytes {
            arena.reset_with(Retain::Bytes(bytes));
        }
        arena.set_limit(bytes);
    }

    /// Statistics of the arena; see [`Arena::stats`]. The high-water mark is that of this loan.
    ///
    /// ```
    /// # let pool = ebbtide::Pool::new();
    /// pool.scope(|s| s.alloc_slice_fill_copy(1_000_000, 0u8).len());
    /// let mut arena = pool.get();
    /// arena.scope().alloc(1);
    /// assert!(arena.stats().held > 1_000_000); // from the loan before
    /// assert!(arena.stats().high_water < 100_000);
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.node.as_ref().map_or_else(Stats::default, |node| node[0].arena.stats())
    }
}

impl<B: Backing> Drop for Pooled<'_, B> {
    fn drop(&mut self) {
        if let Some(mut node) = self.node.take() {
            node[0].arena.reset();
            node[0].arena.set_limit(None);
            self.shard.lock().empty.push(node);
        }
    }
}

impl<B: Backing> fmt::Debug for Pooled<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pooled").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

/// An arena lent for its root. Dropping it returns the arena, together with the root's allocations.
pub(crate) struct RootLoan<'p, B: Backing> {
    /// `None` only while this is dropped.
    node: Option<BoxedNode<B>>,
    /// The shard that the arena goes back to.
    shard: &'p Shard<B>,
}

impl<B: Backing> RootLoan<'_, B> {
    pub(crate) fn arena(&self) -> &Arena<B> {
        match &self.node {
            Some(node) => &node[0].arena,
            None => unreachable!("the arena is there until it is given back"),
        }
    }
}

impl<B: Backing> Drop for RootLoan<'_, B> {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            node[0].arena.set_limit(None);
            self.shard.lock().rooted.push(node);
        }
    }
}
