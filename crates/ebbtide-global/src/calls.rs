//! The functions that programs call: `arena`, `outside`, `map` and others.
#![forbid(unsafe_code)]

use crate::{
    Options,
    figures::{Counted, Label, Usage},
    memory::pool,
    owner::{Owner, Ticket},
    sites, thread,
};
use core::{
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
};
use std::vec::Vec;

/// An open scope of this thread, which ends when the guard is dropped. Forgetting the guard costs
/// memory.
pub(crate) struct Guard {
    ticket: Option<Ticket>,
    label: Option<&'static Label>,
}

impl Guard {
    /// Opens a scope. If `continues` is true, it continues a scope that was counted before, and is
    /// not counted itself.
    #[inline]
    pub(crate) fn open(options: &Options, site: u32, continues: bool) -> Guard {
        let label = options.label.map(|text| match Label::find_by_address(text) {
            Some(label) => label,
            None => new_label(text),
        });
        let is_started = thread::with(Owner::is_started) || thread::start();
        let counted = Counted { label, continues, site: options.site_or(site) };
        let enter = |owner: &Owner| owner.enter_counted(options, counted);
        let ticket = if is_started { thread::with(enter) } else { None };
        Guard { ticket, label }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        if let Some(usage) = thread::with(|owner| owner.leave_any(ticket)) {
            trace(self.label, usage);
        }
    }
}

/// Finds or creates the counters of a label that was not used at this address before. Counters are
/// never freed, so they come from the inner allocator.
#[cold]
fn new_label(text: &'static str) -> &'static Label {
    outside(|| Label::find_or_create(text))
}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
fn trace(_: Option<&'static Label>, _: Usage) {}

/// Emits an event for a scope that ended.
#[cfg(feature = "tracing")]
fn trace(label: Option<&'static Label>, usage: Usage) {
    std::thread_local! {
        /// Whether a subscriber runs on this thread. Scopes that it opens emit no events.
        static BUSY: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
    }
    if !tracing::enabled!(tracing::Level::TRACE) || BUSY.replace(true) {
        return;
    }
    let Usage { blocks, bytes, escaped } = usage;
    // A subscriber may keep the memory that it allocates.
    outside(|| {
        let label = label.map_or("", |label| label.text);
        tracing::trace!(label, blocks, bytes, escaped, "scope ended");
    });
    BUSY.set(false);
}

/// Runs `f` in a scope: while `f` runs, this thread's allocations come from an arena.
///
/// When `f` returns or panics, chunks without live blocks can be reused immediately. Blocks that
/// are still alive (in the result, in a global, in another thread) stay valid until any thread
/// frees them, and do not move. So any code may run in a scope, and the result may be of any type.
///
/// An outermost scope costs a few nanoseconds, a nested one a few tens of nanoseconds. Ending a
/// scope looks at each of its chunks once, not at single blocks.
///
/// # Memory
///
/// A small block that outlives its scope keeps its whole chunk of 64 KiB. Arenas hold at most one
/// and a half times the peak of the live bytes in the last one to two seconds, plus 16 MiB, plus
/// 4 MiB for each running thread that has opened a scope; beyond that, the inner allocator serves
/// requests. Most programs stay far below the bound.
///
/// What arenas no longer use goes back to the system within about two seconds, also while the
/// program does nothing, except for 12 MiB and up to 1 MiB for each thread. For that, the end of a
/// scope starts a helper thread while arenas hold more than 12 MiB. [`report`](crate::report) has
/// the figures (`live`, `live_peak`, `held`, `bound`), and [`retain`](crate::retain) sets how much
/// is kept instead, without such a thread.
///
/// The bound does not hold for a program
///
/// - that frees most of its bytes but keeps a block in nearly every chunk. The inner allocator serves
///   new requests until chunks are empty;
/// - whose threads end and leave a few blocks each. The same is true of their chunks;
/// - in which a scope stays open after most of what it held was freed: that may stay until the scope ends
///   or is refused memory.
///
/// # When the inner allocator serves
///
/// Scopes nest, and the innermost one serves requests. If no arena is available, `f` still runs and
/// uses the inner allocator. This happens if the program's global allocator is not a
/// [`Scoped`](crate::Scoped), if the system has no addresses to reserve, if the bound above is
/// reached, and in a destructor at the end of a thread. The [report](crate::report) counts these
/// cases.
///
/// ```
/// use ebbtide_global::{Scoped, arena};
/// use std::{alloc::System, collections::BTreeMap};
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let text = "to be or not to be";
/// let most = arena(|| {
///     let mut counts = BTreeMap::<String, usize>::new();
///     for word in text.split(' ') {
///         *counts.entry(word.to_owned()).or_default() += 1;
///     }
///     counts.into_values().max()
/// });
/// assert_eq!(most, Some(2));
/// ```
///
/// # When to use it
///
/// A scope pays off if `f` allocates many blocks and keeps few of them: parsing, compiling,
/// answering a request, numeric work with temporary vectors.
///
/// In a loop, open a scope for each item, not one around the loop ([`map`] does that). A scope of any
/// length reuses what is freed in it, but only the end of a scope makes its memory as good as new. The
/// report names a scope that seems to have a loop in it.
///
/// # Scopes that do not pay
///
/// A scope that keeps much may be slower than the inner allocator. So the scopes of each *site* are
/// measured: with an arena and without one, in turn, by the processor time of the thread. While those
/// of a site are slower, they are *skipped*: `f` runs as if it were called directly. They are measured
/// again, ever more rarely. A site is the type of `f`, for scopes with options together with their
/// label; [`Options::site`] tells others apart. Nested scopes are sites of their own. What a scope
/// serves beyond its first 2 MiB is measured, too, and the inner allocator serves a long scope while it
/// is faster.
///
/// Measuring takes a few per cent of the time of a scope's first milliseconds, and less later. Scopes
/// that keep nothing and fit in one chunk are not measured. Builds with debug assertions measure
/// nothing; [`set_skipping`] turns it on and off.
#[inline]
pub fn arena<R>(f: impl FnOnce() -> R) -> R {
    let _guard = FastGuard::open(site_of(&f));
    f()
}

/// Opens a scope that ends when the guard is dropped: [`arena`] for a body with `return`, `?` or
/// `break` in it, in one line.
///
/// The guard stays in its thread, so a future that keeps one across an `.await` is not `Send`; take an
/// [`ArenaFuture`](crate::ArenaFuture) there. Guards may be dropped in any order: the end of a scope
/// ends those that were opened after it. One that is never dropped leaves its scope open, which costs
/// memory.
///
/// ```
/// use ebbtide_global::{Scoped, enter};
/// use std::{alloc::System, num::ParseIntError};
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// fn largest(text: &str) -> Result<Option<u32>, ParseIntError> {
///     let _scope = enter();
///     let numbers: Vec<u32> = text.split(' ').map(str::parse).collect::<Result<_, _>>()?;
///     Ok(numbers.into_iter().max())
/// }
/// assert_eq!(largest("3 1 2"), Ok(Some(3)));
/// assert!(largest("3 one 2").is_err());
/// ```
///
/// Its site is the line that calls it. Costs what [`arena`] does.
#[inline]
#[track_caller]
#[must_use = "the scope ends when the guard is dropped, which `let _scope = enter();` puts off"]
pub fn enter() -> Entered {
    let line = core::ptr::from_ref(core::panic::Location::caller()).addr();
    // The numbers of lines are closer to one another than a site's places.
    let site = (line as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    Entered { _guard: FastGuard::open(site as u32 | 1), _stays: PhantomData }
}

/// An open scope of this thread, from [`enter`].
///
/// ```
/// struct Request {
///     _scope: ebbtide_global::Entered,
///     words: Vec<String>,
/// }
/// let _scope = ebbtide_global::enter();
/// let request = Request { _scope, words: vec!["ebb".to_owned()] };
/// assert_eq!(request.words.len(), 1);
/// ```
#[must_use = "the scope ends when the guard is dropped"]
pub struct Entered {
    _guard: FastGuard,
    _stays: PhantomData<*const ()>,
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}

/// Like [`Guard`], for the default options.
struct FastGuard(Option<Ticket>);

impl FastGuard {
    #[inline]
    fn open(site: u32) -> FastGuard {
        FastGuard(match thread::with(|owner| owner.enter_fast(site)) {
            None => enter_slowly(site),
            ticket => ticket,
        })
    }
}

/// Opens a scope with the default options, outermost or nested.
#[inline(never)]
fn enter_slowly(site: u32) -> Option<Ticket> {
    let is_started = thread::with(Owner::is_started) || thread::start();
    if is_started { thread::with(|owner| owner.enter_default_slowly(site)) } else { None }
}

/// The number of the site of a closure or a future: that of its type.
#[inline(always)]
pub(crate) fn site_of<F>(_: &F) -> u32 {
    struct Number(u64);
    impl Hasher for Number {
        fn write(&mut self, _: &[u8]) {}

        fn write_u64(&mut self, number: u64) {
            self.0 = number;
        }

        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut number = Number(0);
    typeid::of::<F>().hash(&mut number);
    // 0 stands for no site. Nested scopes have the complement, which must not be 0 either.
    (number.finish() >> 33) as u32 | 1
}

/// Ends any scope.
#[inline(never)]
fn leave(ticket: Option<Ticket>) {
    if let Some(usage) = ticket.and_then(|ticket| thread::with(|owner| owner.leave_any(ticket))) {
        trace(None, usage);
    }
}

impl Drop for FastGuard {
    #[inline]
    fn drop(&mut self) {
        match thread::with(|owner| owner.leave_fast(self.0)) {
            Some(usage) => trace(None, usage),
            None => leave(self.0),
        }
    }
}

/// Like [`arena`], but with [`Options`]: which sizes the scope serves, a byte limit, a label.
///
/// A nested scope takes a chunk of its own, 64 KiB that its thread keeps for the next one. Opening
/// and closing it costs a few tens of nanoseconds.
///
/// ```
/// use ebbtide_global::{Options, arena_with};
///
/// let options = Options::new().max_size(1 << 20).label("summary");
/// let count = || "to be or not to be".split(' ').map(String::from).collect::<Vec<_>>().len();
/// assert_eq!(arena_with(&options, count), 6);
/// ```
pub fn arena_with<R>(options: &Options, f: impl FnOnce() -> R) -> R {
    let _guard = Guard::open(options, site_of(&f), false);
    f()
}

/// Runs `f`, during which the inner allocator serves this thread, even if a scope is open. Use it
/// for data that outlives the scope, such as an entry of a cache.
///
/// ```
/// use ebbtide_global::{Scoped, arena, outside};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let mut log = Vec::new();
/// for n in 0..3 {
///     arena(|| {
///         let line = format!("{n} squared is {}", n * n);
///         outside(|| log.push(line.clone()));
///     });
/// }
/// assert_eq!(log[2], "2 squared is 4");
/// ```
///
/// Costs a few nanoseconds, and next to nothing if no scope is open. Without `outside`, data that
/// outlives a scope stays valid, but keeps more memory than it needs.
#[inline]
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    let _guard = OutsideGuard(thread::with(Owner::enter_outside));
    f()
}

/// Keeps the innermost scope closed until it is dropped.
struct OutsideGuard(Option<Ticket>);

impl Drop for OutsideGuard {
    #[inline]
    fn drop(&mut self) {
        if let Some(ticket) = self.0 {
            thread::with(|owner| owner.leave(ticket));
        }
    }
}

/// Runs `f` like [`outside`] and returns its result. Use it to copy a value out of the arena that
/// should outlive the scope.
///
/// ```
/// # use ebbtide_global::{arena, take_out};
/// let kept = arena(|| {
///     let words: Vec<String> = "a b c".split(' ').map(String::from).collect();
///     take_out(|| words[1].clone())
/// });
/// assert_eq!(kept, "b");
/// ```
#[inline]
pub fn take_out<T>(f: impl FnOnce() -> T) -> T {
    outside(f)
}

/// Calls `f` on every item, each time in a scope of its own, and collects the results in order.
///
/// ```
/// let lengths = ebbtide_global::map(["a", "bc"], |s| s.repeat(10).len());
/// assert_eq!(lengths, [10, 20]);
/// ```
pub fn map<I: IntoIterator, R>(items: I, mut f: impl FnMut(I::Item) -> R) -> Vec<R> {
    items.into_iter().map(|item| arena(|| f(item))).collect()
}

/// Like [`map`], on all threads of rayon's pool (feature `rayon`). Propagates a panic of `f`.
///
/// ```
/// let lengths = ebbtide_global::par_map(vec!["a", "bc"], |s| s.repeat(10).len());
/// assert_eq!(lengths, [10, 20]);
/// ```
#[cfg(feature = "rayon")]
pub fn par_map<I, R>(items: I, f: impl Fn(I::Item) -> R + Sync + Send) -> Vec<R>
where
    I: rayon::iter::IntoParallelIterator<Iter: rayon::iter::IndexedParallelIterator>,
    R: Send,
{
    use rayon::iter::ParallelIterator;
    items.into_par_iter().map(|item| arena(|| f(item))).collect()
}

/// Starts a thread that runs `f` in a scope. Joining it returns the result of `f`.
///
/// # Panics
///
/// If the system cannot start a thread.
///
/// ```
/// let digits = || (0..100).map(|n| n.to_string()).collect::<String>().len();
/// let worker = ebbtide_global::spawn_in_arena(digits);
/// assert_eq!(worker.join().unwrap(), 190);
/// ```
pub fn spawn_in_arena<R: Send + 'static>(
    f: impl FnOnce() -> R + Send + 'static,
) -> std::thread::JoinHandle<R> {
    outside(|| std::thread::spawn(|| arena(f)))
}

/// Initialises lazy globals of the standard library outside of any arena: the buffers of standard
/// output and input, this thread's handle, and the tables that the first panic needs. If they were
/// initialised inside a scope, each would pin a chunk.
///
/// ```
/// ebbtide_global::warm();
/// ```
pub fn warm() {
    outside(|| {
        let _ = std::io::stdout();
        let _ = std::io::stdin();
        let _ = std::thread::current().id();
        let _ = std::env::args_os().count();
        // The unwinder finds its tables on first use. `resume_unwind` calls no panic hook. If
        // panics abort, it would end the program.
        #[cfg(panic = "unwind")]
        let _ = std::panic::catch_unwind(|| std::panic::resume_unwind(std::boxed::Box::new(())));
    });
}

/// Sets whether scopes may be skipped: see [`arena`]. By default they may, except in builds with
/// debug assertions. Turn it off for measurements and tests that must not depend on time.
///
/// ```
/// ebbtide_global::set_skipping(false);
/// let boxed = ebbtide_global::arena(|| Box::new(1)); // in the arena, whatever it costs
/// # drop(boxed);
/// ```
pub fn set_skipping(is_on: bool) {
    sites::set_skipping(is_on);
}

/// Returns the memory that this thread and the shared pools keep for the next scopes to the system
/// at once.
///
/// Call it outside of scopes. Then it also returns the chunk in which this thread's next scope
/// would begin, and chunks without live blocks that its scopes would reuse. Other threads keep up
/// to 1 MiB each. Costs up to one system call for each run of chunks.
///
/// ```
/// ebbtide_global::release_pool();
/// ```
pub fn release_pool() {
    thread::with(Owner::release_pools);
    pool::trim(usize::MAX);
}
