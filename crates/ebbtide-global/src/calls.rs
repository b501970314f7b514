//! What users call.
#![forbid(unsafe_code)]

use crate::{
    Options,
    figures::{Label, Usage},
    owner::{Owner, Ticket},
    pool, thread,
};
use std::vec::Vec;

/// An open scope of this thread, which ends when the guard is dropped. A guard that is forgotten
/// costs memory.
pub(crate) struct Guard {
    ticket: Option<Ticket>,
    label: Option<&'static Label>,
}

impl Guard {
    #[inline]
    pub(crate) fn open(options: &Options) -> Guard {
        let label = options.label.map(|text| match Label::known(text) {
            Some(label) => label,
            None => new_label(text),
        });
        let is_started = thread::with(Owner::is_started) || thread::start();
        let enter = |owner: &Owner| owner.enter_labelled(options, label);
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

/// The counters of a label that was not used before, or not at this address. They live on, so they
/// come from the inner allocator.
#[cold]
fn new_label(text: &'static str) -> &'static Label {
    outside(|| Label::of(text))
}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
fn trace(_: Option<&'static Label>, _: Usage) {}

/// Makes an event of a scope that ended.
#[cfg(feature = "tracing")]
fn trace(label: Option<&'static Label>, usage: Usage) {
    std::thread_local! {
        /// Whether a subscriber of this thread is at work: scopes of its own are no events.
        static BUSY: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
    }
    if !tracing::enabled!(tracing::Level::TRACE) || BUSY.replace(true) {
        return;
    }
    let Usage { blocks, bytes, escaped } = usage;
    // A subscriber may keep what it allocates.
    outside(|| {
        let label = label.map_or("", |label| label.text);
        tracing::trace!(label, blocks, bytes, escaped, "scope ended");
    });
    BUSY.set(false);
}

/// Runs `f` in a scope: what this thread allocates inside of `f` comes from an arena.
///
/// When `f` returns, or panics, everything in the arena that is dead is free again at once. What is
/// alive (in the result, in a global, in another thread's hands) stays where it is and valid. Its
/// memory is used again after it was freed, by whatever thread. So any code may run in a scope, and
/// nothing about the result is special.
///
/// # Memory
///
/// A small block that outlives its scope keeps the chunk of 64 KiB around it. That is bounded: at
/// any time, what all arenas of the program hold is at most one and a half times the live bytes of
/// the recent past (their highest number in the last second or two), plus 16 MiB, plus 4 MiB for
/// each running thread that has opened a scope. Beyond that the inner allocator serves, until
/// enough was freed; the ordinary case is far below. Memory that was not used for a second or two
/// goes back to the system, but for some megabytes, as soon as any thread needs memory or has
/// served 256 KiB. [`report`](crate::report) has the figures (`live`, `live_peak`, `held`,
/// `bound`), and [`retain`](crate::retain) changes how much is kept.
///
/// The one exception: a chunk in which something lives cannot go back. If a program frees most of
/// its live bytes, but a block in nearly every chunk stays, then `held` stays, as it would with any
/// allocator that does not move blocks.
///
/// # Where it does not serve
///
/// Scopes nest, and the innermost one serves. Where an arena cannot be had `f` runs all the same,
/// over the inner allocator: when the program's global allocator is not a
/// [`Scoped`](crate::Scoped), when the system gives no addresses, when memory is bounded as above,
/// and in a destructor at the end of a thread. The [report](crate::report) tells how often.
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
/// It pays where much is allocated and little of it stays: parsing, compiling, answering a request,
/// taking medians. Above a few per cent of blocks that outlive their scope it does not.
#[inline]
pub fn arena<R>(f: impl FnOnce() -> R) -> R {
    let _guard = FastGuard::open();
    f()
}

/// Like [`Guard`], for the default options.
struct FastGuard(Option<Ticket>);

impl FastGuard {
    #[inline]
    fn open() -> FastGuard {
        FastGuard(match thread::with(Owner::enter_fast) {
            None => enter(),
            ticket => ticket,
        })
    }
}

/// Opens a scope with the default options, the outermost or not.
#[inline(never)]
fn enter() -> Option<Ticket> {
    let is_started = thread::with(Owner::is_started) || thread::start();
    if is_started { thread::with(|owner| owner.enter(&Options::new())) } else { None }
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

/// Runs `f` in a scope that serves what the options say.
///
/// Memory is bounded as for [`arena`]. A scope inside of another one takes a chunk of its own, 64
/// KiB that its thread keeps for the next one; opening and closing it costs some tens of
/// nanoseconds.
///
/// ```
/// use ebbtide_global::{Options, arena_with};
///
/// let options = Options::new().max_size(1 << 20).label("summary");
/// let words = arena_with(&options, || "to be or not to be".split(' ').map(String::from).collect::<Vec<_>>().len());
/// assert_eq!(words, 6);
/// ```
pub fn arena_with<R>(options: &Options, f: impl FnOnce() -> R) -> R {
    let _guard = Guard::open(options);
    f()
}

/// Runs `f` over the inner allocator: for what will live on, such as an entry of a cache.
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
/// Costs some nanoseconds, and nothing where no scope is open. Forgetting it costs memory, never
/// safety.
#[inline]
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    let _guard = OutsideGuard(thread::with(Owner::enter_outside));
    f()
}

/// The innermost scope is closed until it is dropped.
struct OutsideGuard(Option<Ticket>);

impl Drop for OutsideGuard {
    #[inline]
    fn drop(&mut self) {
        if let Some(ticket) = self.0 {
            thread::with(|owner| owner.leave(ticket));
        }
    }
}

/// Runs `f` over the inner allocator and hands back what it makes: a copy of something in the arena
/// that is to outlive the scope.
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

/// Calls `f` on every item, each time in a scope of its own; the results in order.
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

/// Starts a thread that runs `f` in a scope.
///
/// ```
/// let worker = ebbtide_global::spawn_in_arena(|| (0..100).map(|n| n.to_string()).collect::<String>().len());
/// assert_eq!(worker.join().unwrap(), 190);
/// ```
pub fn spawn_in_arena<R: Send + 'static>(
    f: impl FnOnce() -> R + Send + 'static,
) -> std::thread::JoinHandle<R> {
    outside(|| std::thread::spawn(|| arena(f)))
}

/// Initialises lazy globals of the standard library now and outside of any arena: the buffers of
/// standard output and input, this thread's handle, what the first panic needs. Initialised inside
/// a scope, each would pin a chunk.
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
        // The unwinder finds its tables the first time that it is used. This panic calls no hook.
        // Where panics abort, it would end the program.
        #[cfg(panic = "unwind")]
        let _ = std::panic::catch_unwind(|| std::panic::resume_unwind(std::boxed::Box::new(())));
    });
}

/// Gives the memory that this thread and the shared pools keep for the next scopes back to the
/// system at once.
///
/// Call it outside of scopes: then whole chunks that this thread's scopes left free between blocks
/// that live on go back, too. Other threads keep up to 1 MiB each. Costs a system call for each run
/// of chunks.
///
/// ```
/// ebbtide_global::release_pool();
/// ```
pub fn release_pool() {
    thread::with(Owner::release_pools);
    pool::trim(usize::MAX);
}
