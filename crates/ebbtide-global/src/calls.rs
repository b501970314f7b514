//! What users call.
#![forbid(unsafe_code)]

use crate::{
    Options,
    engine::{Begin, Owner, Ticket},
    region::{self, Chunk},
    report::{Label, Sums},
    thread,
};
use std::vec::Vec;

/// An open scope of this thread. However it ends, it ends in good order; if it never does, that costs memory.
pub(crate) struct Guard {
    ticket: Option<Ticket>,
    label: Option<&'static Label>,
    /// Whether its end is an event.
    is_told: bool,
}

impl Guard {
    #[inline]
    pub(crate) fn open(options: &Options, begin: Begin) -> Guard {
        let label = options.label.map(label);
        let enter = |owner: &Owner| owner.enter_at(options, label, begin);
        let ticket =
            thread::with(
                |owner| {
                    if owner.is_started() || thread::start() { enter(owner) } else { None }
                },
            );
        Guard { ticket, label, is_told: begin != Begin::Outside }
    }

    /// Ends the scope. Returns its last chunk if that is pinned.
    #[inline]
    pub(crate) fn close(mut self) -> Option<Chunk> {
        self.end()
    }

    #[inline]
    fn end(&mut self) -> Option<Chunk> {
        let ticket = self.ticket.take()?;
        let (closed, pinned) = thread::with(|owner| owner.leave_at(ticket))?;
        if self.is_told {
            trace(self.label, closed);
        }
        pinned
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

#[cold]
fn label(text: &'static str) -> &'static Label {
    outside(|| Label::of(text))
}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
fn trace(_: Option<&'static Label>, _: Sums) {}

#[cfg(feature = "tracing")]
fn trace(label: Option<&'static Label>, closed: Sums) {
    std::thread_local! {
        /// Whether a subscriber of this thread is at work: scopes of its own are no events.
        static BUSY: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
    }
    if !tracing::enabled!(tracing::Level::TRACE) || BUSY.replace(true) {
        return;
    }
    let Sums { blocks, bytes, escaped } = closed;
    // A subscriber keeps what it likes.
    outside(|| {
        let label = label.map_or("", Label::text);
        tracing::trace!(label, blocks, bytes, escaped, "scope ended");
    });
    BUSY.set(false);
}

/// Runs `f` in a scope: what this thread allocates inside of `f` comes from an arena.
///
/// When `f` returns, or panics, everything in the arena that is dead is free again at once. What is alive — in the result, in a
/// global, in another thread's hands — stays where it is and valid; its memory is used again when it was freed, by
/// whatever thread. So any code may run in a scope, and nothing about the result is special.
///
/// A scope is for work that ends. In one that runs for ever, memory that is freed in the order in which it was taken (a queue, a
/// cache, what is sent to another thread) is not used again before the scope's end, and it grows; put such things
/// [`outside`]. One small block that escapes keeps the 64 KiB around it that the scope filled. Where scope after scope leaves a few
/// behind, the outermost ones of a thread go on in each other's memory, and fill what is free between such blocks.
///
/// Scopes nest, and the innermost one serves. Where an arena cannot be had `f` runs all the same, over the inner
/// allocator: when the program's global allocator is not a [`Scoped`](crate::Scoped), when the system gives no addresses, in a
/// destructor at the end of a thread. The [report](crate::report) tells.
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
/// It pays where much is allocated and little of it stays: parsing, compiling, answering a request, taking medians.
/// Above a few per cent of blocks that outlive their scope it does not.
#[inline]
pub fn arena<R>(f: impl FnOnce() -> R) -> R {
    let _guard = PlainGuard::open();
    f()
}

/// As [`Guard`], for the default options.
struct PlainGuard(Option<Ticket>);

impl PlainGuard {
    #[inline]
    fn open() -> PlainGuard {
        PlainGuard(match thread::with(Owner::enter_plain) {
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
    if let Some((closed, _)) =
        ticket.and_then(|ticket| thread::with(|owner| owner.leave_at(ticket)))
    {
        trace(None, closed);
    }
}

impl Drop for PlainGuard {
    #[inline]
    fn drop(&mut self) {
        match thread::with(|owner| owner.leave_plain(self.0)) {
            Some(closed) => trace(None, closed),
            None => leave(self.0),
        }
    }
}

/// As [`arena`], serving what the options say.
pub fn arena_with<R>(options: &Options, f: impl FnOnce() -> R) -> R {
    let _guard = Guard::open(options, Begin::Anywhere);
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
/// To forget it costs memory, never safety.
#[inline]
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    // A scope that serves nothing, unless none is open.
    let is_open = thread::with(Owner::is_open);
    let _guard = is_open.then(|| Guard::open(&Options::new(), Begin::Outside));
    f()
}

/// Runs `f` over the inner allocator and hands back what it makes: a copy of something in the arena that is to outlive
/// the scope.
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

/// As [`map`], by all threads of rayon's pool (feature `rayon`). A panic is passed on.
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

/// Makes the standard library make its lazy globals now and outside of any arena: the buffers of standard output and input,
/// this thread's handle, what the first panic needs. Inside a scope they would pin a chunk each.
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
        // The unwinder finds its tables the first time that it is used. This panic calls no hook. Where panics abort, it would
        // end the program.
        #[cfg(panic = "unwind")]
        let _ = std::panic::catch_unwind(|| std::panic::resume_unwind(std::boxed::Box::new(())));
    });
}

/// Gives the memory that this thread's pool and the shared one keep back to the system. Outside of scopes that is also what this
/// thread's scopes left free between blocks that live on, as far as whole chunks are.
///
/// ```
/// ebbtide_global::release_pool();
/// ```
pub fn release_pool() {
    thread::with(Owner::release_pools);
    region::purge_pools();
}
