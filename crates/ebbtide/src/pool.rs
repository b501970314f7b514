//! Arenas for many threads.
//!
//! A pool keeps idle arenas in *shards*, each a stack behind a lock of its own, as many as the machine
//! runs threads at a time. A thread takes from the shard that its number falls on, and looks into the others
//! only when that one is empty or held; an arena goes back to the shard it came from. Where no more threads
//! run than there are shards, no two of them meet at a lock.
#![forbid(unsafe_code)]

use crate::{arena::Arena, error::AllocError, scope::Scope, stats::Stats};
use core::{cell::Cell, fmt, sync::atomic::Ordering};
#[cfg(loom)]
use loom::{
    sync::{Mutex, MutexGuard, atomic::AtomicUsize},
    thread_local,
};
use std::{
    boxed::Box,
    sync::{OnceLock, PoisonError, TryLockError},
    vec::Vec,
};
#[cfg(not(loom))]
use std::{
    sync::{Mutex, MutexGuard, atomic::AtomicUsize},
    thread, thread_local,
};

/// Arenas that many threads, or many futures, take turns to use.
///
/// [`get`](Pool::get) lends an arena until it is dropped; it is reset then and stays warm for the
/// next one. A pool is `Sync`, and [`new`](Pool::new) is `const`: keep it in a `static`, or in the state of
/// a server. It makes as many arenas as are lent at a time; where threads meet at a lock, one of them may get a
/// new arena although another is idle. For each processor core there are never more than were lent at a time.
///
/// ```
/// use ebbtide::Pool;
/// use std::thread;
///
/// static ARENAS: Pool = Pool::new();
///
/// let sums = thread::scope(|threads| {
///     let workers = [10, 20, 30].map(|n| {
///         threads.spawn(move || ARENAS.scope(|s| s.alloc_slice_fill_copy(n, 1).iter().sum::<i32>()))
///     });
///     workers.map(|worker| worker.join().unwrap())
/// });
/// assert_eq!(sums, [10, 20, 30]);
/// ```
///
/// An arena that is lent belongs to its borrower alone. A panic gives it back like any other end, and leaves
/// the pool as it was; one that is forgotten is lost to the pool, and nothing else.
pub struct Pool {
    shards: OnceLock<Box<[Shard]>>,
    chunk_size: Option<usize>,
}

/// Idle arenas. Boxed, so that taking one moves a pointer and an arena stays where its chunks say it is.
#[allow(clippy::vec_box, reason = "as the comment says")]
type Stack = Vec<Box<Arena>>;

/// A stack of idle arenas. On cache lines of its own; processors fetch them in pairs.
#[repr(align(128))]
#[derive(Default)]
struct Shard {
    idle: Mutex<Stack>,
    #[cfg(loom)]
    passers: AtomicUsize,
}

impl Shard {
    /// A panic with the lock held cannot leave the stack half changed.
    fn lock(&self) -> MutexGuard<'_, Stack> {
        self.pass();
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.pass();
        idle
    }

    /// An idle arena, if nobody holds the lock.
    fn try_pop(&self) -> Option<Box<Arena>> {
        self.pass();
        let mut idle = match self.idle.try_lock() {
            Ok(idle) => idle,
            Err(TryLockError::Poisoned(idle)) => idle.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.pass();
        idle.pop()
    }

    /// Lets loom switch threads before a lock is taken and while it is held; it does so only where two threads
    /// meet at something else. Otherwise nothing.
    #[inline(always)]
    fn pass(&self) {
        #[cfg(loom)]
        self.passers.fetch_add(1, Ordering::Relaxed);
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
    // Only the number matters, not when others see it. It wraps to 0 at worst, which is taken again.
    let number = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    NUMBER.with(|own| own.set(number));
    number
}

/// How many threads run at a time.
fn parallelism() -> usize {
    #[cfg(loom)]
    return 2;
    #[cfg(not(loom))]
    thread::available_parallelism().map_or(1, usize::from)
}

impl Pool {
    /// An empty pool. Takes no memory until the first arena is lent.
    #[must_use]
    pub const fn new() -> Self {
        Pool { shards: OnceLock::new(), chunk_size: None }
    }

    /// An empty pool whose arenas' first chunks have room for `bytes` bytes; see
    /// [`Arena::with_chunk_size`].
    ///
    /// ```
    /// # use ebbtide::Pool;
    /// static ARENAS: Pool = Pool::with_chunk_size(1 << 20);
    /// assert_eq!(ARENAS.scope(|s| s.stats().capacity), 1 << 20);
    /// ```
    #[must_use]
    pub const fn with_chunk_size(bytes: usize) -> Self {
        Pool { shards: OnceLock::new(), chunk_size: Some(bytes) }
    }

    /// Lends an arena: an idle one, or a new one. It comes back when the [`Pooled`] is dropped, on whatever
    /// thread.
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
        let shards = self.shards();
        let own = thread_number() & (shards.len() - 1);
        // Statements of their own, so that no lock is held while the others are looked into.
        let popped = shards[own].try_pop();
        if let Some(arena) = popped {
            return Pooled { arena: Some(arena), shard: &shards[own] };
        }
        self.get_elsewhere(shards, own)
    }

    /// An arena of another shard, or a new one that will come back to the thread's own.
    #[cold]
    fn get_elsewhere<'p>(&self, shards: &'p [Shard], own: usize) -> Pooled<'p> {
        for distance in 1..shards.len() {
            let shard = &shards[(own + distance) & (shards.len() - 1)];
            if let Some(arena) = shard.try_pop() {
                return Pooled { arena: Some(arena), shard };
            }
        }
        // The own shard may only have been held by somebody who was giving one back. It gets a new arena only when
        // all that belong to it are lent, so it never owns more than are lent at a time, whatever was held above.
        let popped = shards[own].lock().pop();
        let arena = popped.unwrap_or_else(|| {
            Box::new(self.chunk_size.map_or_else(Arena::new, Arena::with_chunk_size))
        });
        Pooled { arena: Some(arena), shard: &shards[own] }
    }

    fn shards(&self) -> &[Shard] {
        self.shards.get_or_init(|| {
            (0..parallelism().next_power_of_two()).map(|_| Shard::default()).collect()
        })
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

    /// Runs `f` with each of `items` and a scope of its own, and returns the results in order. One arena
    /// serves all of them.
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

    /// As [`map`](Pool::map), on all threads of the current rayon pool. The results are in order. A few
    /// arenas a thread serve all items.
    ///
    /// # Panics
    ///
    /// If `f` does; rayon passes on the first panic that it sees, and some items may not be looked at.
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

    /// What the idle arenas hold, added up. Those that are lent do not count.
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
        for shard in self.shards.get().into_iter().flatten() {
            for arena in shard.lock().iter() {
                sum.add(&arena.stats());
            }
        }
        sum
    }

    /// Gives back all memory of the idle arenas. Those that are lent stay as they are, and come back.
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
        for shard in self.shards.get().into_iter().flatten() {
            let idle = core::mem::take(&mut *shard.lock());
            // The lock is free again: the heap may take its time.
            drop(idle);
        }
    }
}

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

/// An arena that a [`Pool`] lent; dropping it gives it back.
///
/// It is `Send`, and so is its scope: a future may own the one and hold the other across `.await`.
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
    /// There until it is dropped.
    arena: Option<Box<Arena>>,
    /// Where it goes back to.
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
        match &mut self.arena {
            Some(arena) => arena.scope(),
            None => unreachable!("an arena is there until it is given back"),
        }
    }

    /// As [`scope`](Pooled::scope).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no first chunk and the heap has no memory for one.
    #[inline]
    pub fn try_scope(&mut self) -> Result<Scope<'_>, AllocError> {
        match &mut self.arena {
            Some(arena) => arena.try_scope(),
            None => unreachable!("an arena is there until it is given back"),
        }
    }

    /// What the arena holds; see [`Arena::stats`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.arena.as_ref().map_or_else(Stats::default, |arena| arena.stats())
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        if let Some(mut arena) = self.arena.take() {
            arena.reset();
            self.shard.lock().push(arena);
        }
    }
}

impl fmt::Debug for Pooled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pooled").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
