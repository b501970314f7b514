//! Arenas for many threads.
//!
//! A pool keeps idle arenas in *shards*, each a stack behind its own lock. It uses as many shards
//! as the machine runs threads at a time. A thread takes from the shard that its number selects,
//! and looks into the others only if that one is empty or locked. An arena goes back to the shard
//! it came from. As long as no more threads run than there are shards, no two of them meet at a
//! lock.
//!
//! Nothing is allocated or freed while a lock is held, and nothing is initialised once for all
//! threads while others wait: a global allocator may itself use a pool.
#![forbid(unsafe_code)]

use crate::{
    arena::Arena,
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
/// A pool makes about as many arenas as are lent at a time. If threads meet at a lock, one of them
/// may get a new arena although another is idle; but for each processor core there are never more
/// arenas than were lent at a time.
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
/// A lent arena belongs to its borrower alone. A panic gives it back like any other end, and the
/// pool stays usable. A forgotten one is lost to the pool, without further effect.
pub struct Pool {
    shards: [Shard; SHARDS],
    chunk_size: Option<usize>,
}

/// The number of shards that there is room for, a power of two. Fewer are used on smaller machines.
const SHARDS: usize = if cfg!(loom) { 2 } else { 32 };

/// An arena and, while it is idle, the one below it in the stack. Boxed as long as it lives:
/// lending moves a pointer, and a stack needs no memory of its own.
struct Node {
    arena: Arena,
    below: Option<BoxedNode>,
}

/// An array of one, because only a vector can be allocated fallibly and safely.
type BoxedNode = Box<[Node; 1]>;

/// A stack of idle arenas.
#[derive(Default)]
struct Stack {
    top: Option<BoxedNode>,
}

impl Stack {
    const fn new() -> Self {
        Stack { top: None }
    }

    fn push(&mut self, mut node: BoxedNode) {
        node[0].below = self.top.take();
        self.top = Some(node);
    }

    fn pop(&mut self) -> Option<BoxedNode> {
        let mut node = self.top.take()?;
        self.top = node[0].below.take();
        Some(node)
    }

    fn iter(&self) -> impl Iterator<Item = &Arena> {
        let nodes = core::iter::successors(self.top.as_ref(), |node| node[0].below.as_ref());
        nodes.map(|node| &node[0].arena)
    }
}

/// One node at a time: the compiler's own way frees the one below from within each.
impl Drop for Stack {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

/// A locked stack of idle arenas, on cache lines of its own. Processors fetch them in pairs.
#[repr(align(128))]
struct Shard {
    idle: Mutex<Stack>,
    #[cfg(loom)]
    passers: AtomicUsize,
}

impl Shard {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Shard { idle: Mutex::new(Stack::new()) }
    }

    #[cfg(loom)]
    fn new() -> Self {
        Shard { idle: Mutex::new(Stack::new()), passers: AtomicUsize::new(0) }
    }

    /// Waits for the lock. The stack is consistent even if it is poisoned: a panic cannot interrupt
    /// a push or a pop.
    fn lock(&self) -> MutexGuard<'_, Stack> {
        self.pass();
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.pass();
        idle
    }

    /// Takes an idle arena, unless somebody holds the lock.
    fn try_pop(&self) -> Option<BoxedNode> {
        self.pass();
        let mut idle = match self.idle.try_lock() {
            Ok(idle) => idle,
            Err(TryLockError::Poisoned(idle)) => idle.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.pass();
        idle.pop()
    }

    /// Lets loom switch threads before a lock is taken and while it is held; it does so only where
    /// two threads meet at something else. Otherwise does nothing.
    #[inline(always)]
    fn pass(&self) {
        #[cfg(loom)]
        self.passers.fetch_add(1, Relaxed);
    }
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

/// A number that threads of different ages do not share.
#[inline]
fn thread_number() -> usize {
    match NUMBER.with(Cell::get) {
        0 => new_number(),
        number => number,
    }
}

#[cold]
fn new_number() -> usize {
    // Only the number matters, not when others see it. It wraps to 0 at worst, and is drawn again
    // then.
    let number = LAST.fetch_add(1, Relaxed).wrapping_add(1);
    NUMBER.with(|own| own.set(number));
    number
}

/// The number of shards in use: as many as threads run at a time, rounded up to a power of two.
#[cfg(not(loom))]
#[inline]
fn shards_in_use() -> usize {
    /// 0 until a thread has asked the system, or is about to.
    static IN_USE: AtomicUsize = AtomicUsize::new(0);

    #[cold]
    fn ask_system() -> usize {
        // Others use one shard meanwhile, also this thread: the system is asked with the help of
        // the global allocator, which may use a pool. Any number is right at any time, for an arena
        // goes back to the shard it came from.
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

impl Pool {
    /// An empty pool. Takes no memory of the heap until the first arena is lent.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Pool { shards: [const { Shard::new() }; SHARDS], chunk_size: None }
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
        Pool { shards: [const { Shard::new() }; SHARDS], chunk_size: Some(bytes) }
    }

    /// The same for models, in which a lock cannot be made at compile time.
    #[cfg(loom)]
    pub fn with_chunk_size(bytes: usize) -> Self {
        Pool { shards: array::from_fn(|_| Shard::new()), chunk_size: Some(bytes) }
    }

    /// Lends an arena: an idle one, or a new one. It comes back when the [`Pooled`] is dropped, on
    /// whatever thread.
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
    #[must_use]
    pub fn get(&self) -> Pooled<'_> {
        let Ok(lent) = self.lend::<Infallible>();
        lent
    }

    /// Fallible version of [`get`](Pool::get).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if no arena is idle and the heap has no memory for a new one. The arena's
    /// first chunk is made when a scope opens: see [`Pooled::try_scope`].
    pub fn try_get(&self) -> Result<Pooled<'_>, AllocError> {
        self.lend()
    }

    #[inline]
    fn lend<F: Failure>(&self) -> Result<Pooled<'_>, F> {
        let shards = &self.shards[..shards_in_use().min(SHARDS)];
        let own = thread_number() & (shards.len() - 1);
        // Statements of their own, so that no lock is held while the others are searched.
        let popped = shards[own].try_pop();
        if let Some(node) = popped {
            return Ok(Pooled { node: Some(node), shard: &shards[own] });
        }
        self.lend_other(shards, own)
    }

    /// Lends an arena of another shard, or a new one that will go to the thread's own.
    #[cold]
    fn lend_other<'p, F: Failure>(&self, shards: &'p [Shard], own: usize) -> Result<Pooled<'p>, F> {
        for distance in 1..shards.len() {
            let shard = &shards[(own + distance) & (shards.len() - 1)];
            if let Some(node) = shard.try_pop() {
                return Ok(Pooled { node: Some(node), shard });
            }
        }
        // The own shard may only have been locked by somebody who was giving an arena back. It gets
        // a new arena only when all that belong to it are lent, so it never owns more than are lent
        // at a time, whatever was locked above.
        let popped = shards[own].lock().pop();
        let node = match popped {
            Some(node) => node,
            None => self.new_node()?,
        };
        Ok(Pooled { node: Some(node), shard: &shards[own] })
    }

    fn new_node<F: Failure>(&self) -> Result<BoxedNode, F> {
        let mut node = Vec::new();
        if F::DIVERGES {
            node.reserve_exact(1);
        } else if node.try_reserve_exact(1).is_err() {
            return Err(F::refused());
        }
        let arena = self.chunk_size.map_or_else(Arena::new, Arena::with_chunk_size);
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

    /// Like [`map`](Pool::map), but on all threads of the current rayon pool. The results are in
    /// order. A few arenas a thread serve all items.
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
    {
        use rayon::iter::ParallelIterator;
        let items = items.into_par_iter();
        items.map_init(|| self.get(), |arena, item| f(arena.scope(), item)).collect()
    }

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
            for arena in shard.lock().iter() {
                sum += arena.stats();
            }
        }
        sum
    }

    /// Frees all memory of the idle arenas. Lent arenas stay as they are, and come back.
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
            let idle = mem::take(&mut *shard.lock());
            // The lock is free again when the heap is called.
            drop(idle);
        }
    }
}

#[cfg(not(loom))]
impl Default for Pool {
    fn default() -> Self {
        Pool::new()
    }
}

impl fmt::Debug for Pool {
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
pub struct Pooled<'p> {
    /// `None` only while this is dropped.
    node: Option<BoxedNode>,
    /// The shard that the arena goes back to.
    shard: &'p Shard,
}

impl Pooled<'_> {
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
    #[inline]
    pub fn try_scope(&mut self) -> Result<Scope<'_>, AllocError> {
        self.arena().try_scope()
    }

    #[inline]
    fn arena(&mut self) -> &mut Arena {
        match &mut self.node {
            Some(node) => &mut node[0].arena,
            None => unreachable!("the arena is there until it is given back"),
        }
    }

    /// Statistics of the arena; see [`Arena::stats`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.node.as_ref().map_or_else(Stats::default, |node| node[0].arena.stats())
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        if let Some(mut node) = self.node.take() {
            node[0].arena.reset();
            self.shard.lock().push(node);
        }
    }
}

impl fmt::Debug for Pooled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pooled").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
