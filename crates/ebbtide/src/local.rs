//! The default scope: an arena that every thread has, without one being passed along.
//!
//! # The idea
//!
//! A thread keeps *entries*, each an opened scope that default scopes are children of. [`scope`] takes
//! one that is idle and returns it when its closure ends, by a guard, so a panic returns it too. A nested call
//! finds that one gone and takes another: whatever an inner closure captures, no two scopes in use
//! share an entry. [`with`] puts an entry of the caller's in front of the thread's own.
//!
//! ```text
//! scope ─► Local::take
//!   ├─ state is READY ─► state = OUT; a child of `words`                 the fast path
//!   └─ it is not ──────► take_other ─► an entry of the stack, home, or a new one
//! the guard
//!   ├─ home, taken on the fast path ─► state = READY                     the fast path
//!   └─ else ────────────────────────► give_back
//! ```
//!
//! One entry, *home*, has a copy of its words in the thread-local variable itself, and one word there says
//! whether home is what the next scope takes. So the fast path follows no pointer, and what it stores is
//! a constant: turns of a loop do not wait for one another. The variable is constant at first and has no
//! destructor, so that reaching it takes no test; on x86-64, in an executable:
//!
//! ```text
//! cmp byte ptr fs:[state], 0
//! jne cold
//! mov byte ptr fs:[state], 1
//! mov rax, fs:[top]
//! …                              ; the closure
//! mov byte ptr fs:[state], 0
//! ```
//!
//! # Invariants
//!
//! - **L1** An entry is home, in the stack, out with one guard, or not yet or no longer anybody's. Home is
//!   out while `OUT` is set.
//! - **L2** An entry in the stack is alive. Those of the heap are unlinked before they are freed; one in a
//!   frame of [`with`] is unlinked before the frame ends, or the process is.
//! - **L3** Only the thread that made an entry reaches it.
//! - **L4** An entry's scope has a child only while the entry is out, and one at a time.
//!
//! L1, L2 and L4 hold whatever the order in which guards are dropped. Closures end in the opposite order of
//! their beginning, unless they run on stacks that are switched by hand; then a frame's entry can be out when
//! the frame ends, and that is looked for.

use crate::{
    arena::Arena,
    backing::{Backing, Heap},
    error::{AllocError, Failure},
    raw::{self, Cursor},
    scope::Scope,
    stats::Stats,
};
use core::{alloc::Layout, cell::Cell, convert::Infallible, error::Error, fmt, ptr::NonNull};
use std::{eprintln, process, thread_local};

/// The capacity of an arena unless another was chosen: 64 KiB, less what the chunk's header and the heap add. The scratch
/// memory of most functions fits in it; what no scope reaches is not resident.
const CAPACITY: usize = 64 * 1024 - 512;

/// Home is idle, and what the next scope takes.
const READY: u8 = 0;
/// Home is out, or there is none.
const OUT: u8 = 1;
/// The closure of a [`with`] runs.
const SWAPPED: u8 = 2;

thread_local! {
    static LOCAL: Local = const { Local {
        state: Cell::new(OUT),
        dead: Cell::new(false),
        swaps: Cell::new(0),
        words: Cell::new(Scope::new(Cursor::nowhere())),
        home: Cell::new(None),
        stack: Cell::new(None),
        open: Cell::new(0),
        capacity: Cell::new(CAPACITY),
    } };
    /// Its destructor is the thread's. Touched when a home is made.
    static REAPER: Reaper = const { Reaper };
}

/// What a thread keeps.
struct Local {
    state: Cell<u8>,
    /// The thread is ending and has freed what it kept.
    dead: Cell<bool>,
    /// How many closures of [`with`] run.
    swaps: Cell<usize>,
    /// The words of home's scope.
    words: Cell<Scope<'static>>,
    home: Cell<Option<NonNull<Entry>>>,
    /// The idle entries but home, linked by `next`.
    stack: Cell<Option<NonNull<Entry>>>,
    /// How many entries that `take_other` gave are out.
    open: Cell<usize>,
    /// The capacity of new arenas.
    capacity: Cell<usize>,
}

/// A scope to open children of.
struct Entry {
    /// Borrows `arena`, or what the frame of [`with`] borrows.
    scope: Cell<Scope<'static>>,
    next: Cell<Option<NonNull<Entry>>>,
    /// The thread's own arena; `None` in a frame of [`with`].
    arena: Option<Arena>,
}

impl Entry {
    /// An entry of the heap. Its arena stays where it is, so its scope is opened once and for all.
    fn make<F: Failure>(capacity: usize) -> Result<NonNull<Entry>, F> {
        let layout = Layout::new::<Entry>();
        let Ok(block) = Heap.allocate(layout) else {
            return Err(no_memory(layout));
        };
        let entry = block.cast::<Entry>();
        let arena = Arena::with_chunk_size(capacity);
        let value = Entry {
            scope: Cell::new(Scope::new(Cursor::nowhere())),
            next: Cell::new(None),
            arena: Some(arena),
        };
        // SAFETY: the block was just allocated with the layout of an entry.
        unsafe { entry.write(value) };
        // SAFETY: just written, and known to nobody else.
        let this = unsafe { entry.as_ref() };
        match this.arena.as_ref().map(Arena::try_root) {
            Some(Ok(root)) => {
                this.scope.set(root.fork());
                Ok(entry)
            }
            _ => {
                // SAFETY: made above and never shown to anybody.
                unsafe { Entry::free(entry) };
                Err(no_memory(layout))
            }
        }
    }

    /// # Safety
    ///
    /// [`Entry::make`] made it, and it is not used again.
    unsafe fn free(entry: NonNull<Entry>) {
        // SAFETY: whole until now, as the caller says.
        unsafe { entry.drop_in_place() };
        // SAFETY: `make` took it from the heap with this layout.
        unsafe { Heap.release(entry.cast(), Layout::new::<Entry>()) };
    }
}

/// A child of an entry's scope.
///
/// # Safety
///
/// The entry is out, this is its only child, and it is not used after the entry comes back.
#[inline(always)]
unsafe fn child_of<'s>(scope: &Cell<Scope<'static>>) -> Scope<'s> {
    // SAFETY: only the cell of an idle entry is ever set, and this one is out.
    let scope = unsafe { &*scope.as_ptr() };
    // SAFETY: the scope is a fork, so rounding it changes nothing.
    Scope::new(unsafe { scope.cursor().fork_again() })
}

/// What a failed allocation of an entry returns, if it returns.
#[cold]
fn no_memory<F: Failure>(layout: Layout) -> F {
    if F::DIVERGES {
        raw::out_of_memory(layout.size(), layout.align());
    }
    F::refused()
}

/// An entry that is out, until dropped.
struct Lease<'l> {
    local: &'l Local,
    /// `None`: home, and `state` was [`READY`].
    other: Option<NonNull<Entry>>,
    scope: &'l Cell<Scope<'static>>,
}

impl Drop for Lease<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.other {
            // A constant, not the state as it is now with a bit less: nothing has to be loaded. Every [`with`]
            // that began since has ended; if not, on a stack that was switched, its scope is no longer the
            // default.
            None => self.local.state.set(READY),
            Some(entry) => self.local.give_back(entry),
        }
    }
}

impl Local {
    #[inline(always)]
    fn take<F: Failure>(&self) -> Result<Lease<'_>, F> {
        if self.state.get() == READY {
            self.state.set(OUT);
            return Ok(Lease { local: self, other: None, scope: &self.words });
        }
        let entry = self.take_other()?;
        // SAFETY: what is out is not freed (L1), and the lease puts it back when it ends.
        let scope = &unsafe { entry.as_ref() }.scope;
        Ok(Lease { local: self, other: Some(entry), scope })
    }

    /// The entry on top of the stack, or home, or a new one.
    #[cold]
    #[inline(never)]
    fn take_other<F: Failure>(&self) -> Result<NonNull<Entry>, F> {
        let entry = match self.pop().or_else(|| self.take_home()) {
            Some(entry) => entry,
            None => {
                let made = Entry::make::<F>(self.capacity.get())?;
                self.settle(made);
                made
            }
        };
        self.open.set(self.open.get() + 1);
        Ok(entry)
    }

    /// Home, if it is idle.
    fn take_home(&self) -> Option<NonNull<Entry>> {
        if self.state.get() & OUT != 0 {
            return None;
        }
        self.state.set(self.state.get() | OUT);
        self.home.get()
    }

    /// Makes an entry that was just made home, if there is none and the thread is not ending.
    fn settle(&self, made: NonNull<Entry>) {
        if self.home.get().is_none() && REAPER.try_with(|_| ()).is_ok() {
            // SAFETY: just made.
            let scope = &unsafe { made.as_ref() }.scope;
            // SAFETY: of the two scopes with home's words, only one is ever used at a time (L4): there is one
            // lease of home.
            self.words.set(unsafe { child_of(scope) });
            self.home.set(Some(made));
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back(&self, entry: NonNull<Entry>) {
        self.open.set(self.open.get() - 1);
        if self.home.get() == Some(entry) {
            self.state.set(self.state.get() & !OUT);
            return;
        }
        // SAFETY: what is out is not freed (L1).
        let own = unsafe { entry.as_ref() }.arena.is_some();
        if own && self.dead.get() {
            // SAFETY: an entry of the heap, and its lease, which was the only one, ends (L1).
            unsafe { Entry::free(entry) };
        } else {
            self.push(entry);
        }
    }

    fn push(&self, entry: NonNull<Entry>) {
        // SAFETY: callers pass an entry that is alive.
        unsafe { entry.as_ref() }.next.set(self.stack.get());
        self.stack.set(Some(entry));
    }

    fn pop(&self) -> Option<NonNull<Entry>> {
        self.unlink(|_| true)
    }

    /// Takes the first entry that is `wanted` out of the stack.
    fn unlink(&self, wanted: impl Fn(&Entry) -> bool) -> Option<NonNull<Entry>> {
        let mut link = &self.stack;
        loop {
            let entry = link.get()?;
            // SAFETY: an entry in the stack is alive (L2), and nothing is freed here.
            let this: &Entry = unsafe { entry.as_ref() };
            if wanted(this) {
                link.set(this.next.get());
                return Some(entry);
            }
            link = &this.next;
        }
    }

    /// Frees every idle arena of the thread.
    fn free_idle(&self) {
        if let Some(home) = self.take_home() {
            self.home.set(None);
            // SAFETY: it was idle, and is nobody's now (L1).
            unsafe { Entry::free(home) };
        }
        // One at a time: the heap may be one that uses default scopes itself.
        while let Some(entry) = self.unlink(|entry| entry.arena.is_some()) {
            // SAFETY: an entry of the heap that was idle, and is nobody's now (L1).
            unsafe { Entry::free(entry) };
        }
    }

    /// Whether a default scope is open.
    fn is_in_use(&self) -> bool {
        let home_is_out = self.home.get().is_some() && self.state.get() & OUT != 0;
        home_is_out || self.open.get() > 0
    }

    fn stats(&self) -> Stats {
        let mut sum = Stats::default();
        let mut add = |entry: NonNull<Entry>| {
            // SAFETY: callers pass idle entries (L2), and nothing is freed here.
            let entry: &Entry = unsafe { entry.as_ref() };
            if let Some(arena) = &entry.arena {
                sum.add(&arena.stats());
            }
            entry.next.get()
        };
        if self.state.get() & OUT == 0 {
            self.home.get().map(&mut add);
        }
        let mut next = self.stack.get();
        while let Some(entry) = next {
            next = add(entry);
        }
        sum
    }
}

/// Frees what the thread kept, when it ends. A scope that is opened later, in the destructor of another
/// thread-local variable, has an arena that goes when it ends.
///
/// An arena that is out stays: the process is exiting from within a scope, whose memory other destructors
/// may still look at.
struct Reaper;

impl Drop for Reaper {
    fn drop(&mut self) {
        // Where thread-local variables are emulated, this one may have gone before; what it led to stays.
        let _ = LOCAL.try_with(|local| {
            local.dead.set(true);
            local.free_idle();
        });
    }
}

/// Runs `f` with a scope of this thread's default arena. All that is allocated in it is free again when
/// `f` returns or panics.
///
/// The arena is made when it is first used, stays for the next scope, and goes with the thread. Opening and
/// closing a scope costs two stores more than one of an arena that is at hand.
///
/// The scope is passed by value: say `mut s` to open children. A call inside `f` gets an arena of its own,
/// so an outer scope can be used inside an inner closure; where nothing needs both, a child, `s.scope()`,
/// costs less memory.
///
/// # Panics
///
/// Only if `f` does. A heap without memory for a new arena is reported to `handle_alloc_error`.
///
/// ```
/// let xs = [1, 2, 3];
/// let sum = ebbtide::scope(|s| {
///     let ys = s.alloc_slice_fill_with(xs.len(), |i| xs[i] + 1);
///     ys.iter().sum::<i64>()
/// });
/// assert_eq!(sum, 9);
/// ```
///
/// What is allocated does not leave the closure:
///
/// ```compile_fail
/// let escaped = ebbtide::scope(|s| s.alloc(1));
/// ```
#[inline(always)]
pub fn scope<R>(f: impl for<'s> FnOnce(Scope<'s>) -> R) -> R {
    let Ok(result) = run::<R, Infallible>(f);
    result
}

/// As [`scope()`].
///
/// # Errors
///
/// [`AllocError`] if there is no idle arena and the heap has no memory for one. `f` did not run then.
///
/// ```
/// let text = ebbtide::try_scope(|s| s.try_alloc_str("ebb").map(|ebb| ebb.len()));
/// assert_eq!(text, Ok(Ok(3)));
/// ```
#[inline(always)]
pub fn try_scope<R>(f: impl for<'s> FnOnce(Scope<'s>) -> R) -> Result<R, AllocError> {
    run(f)
}

#[inline(always)]
fn run<R, F: Failure>(f: impl for<'s> FnOnce(Scope<'s>) -> R) -> Result<R, F> {
    LOCAL.with(|local| {
        let lease = local.take::<F>()?;
        // SAFETY: the entry is out with the lease, which is dropped after `f`; and `f`, which is the same for
        // every lifetime, can keep neither the scope nor what is allocated in it.
        let child = unsafe { child_of(lease.scope) };
        Ok(f(child))
    })
}

/// Runs `f` with `scope` as what default scopes are opened in: a call of [`scope()`](crate::scope()) in `f`,
/// however deep, gets a child of it.
///
/// `scope` may be any: of an arena with a backing of the caller's, of a [`Fixed`](crate::Fixed), of another
/// default scope. Calls nest, each until its closure ends. When `f` returns or panics, the default is what
/// it was, and `scope` can be used again.
///
/// While a default scope is open in it, a nested one gets an arena of its own. To nest in the same memory,
/// make the inner one the default in turn, as in the second example.
///
/// # Panics
///
/// Only if `f` does. Aborts the process if a default scope opened in `f` is still open when `f` ends, which takes
/// stacks that are switched by hand.
///
/// ```
/// use ebbtide::{StackArena, local};
///
/// fn sum_of_successors(xs: &[i64]) -> i64 {
///     ebbtide::scope(|s| s.alloc_slice_fill_with(xs.len(), |i| xs[i] + 1).iter().sum())
/// }
///
/// let mut buffer = StackArena::<1024>::new();
/// let sum = local::with(&mut buffer.scope(), || sum_of_successors(&[1, 2, 3])); // no heap
/// assert_eq!(sum, 9);
/// ```
///
/// ```
/// # use ebbtide::local;
/// let capacity = ebbtide::scope(|mut s| {
///     s.alloc_slice_fill_copy(100_000, 0u8);
///     local::with(&mut s, || ebbtide::scope(|inner| inner.stats().capacity))
/// });
/// assert!(capacity > 100_000);
/// ```
pub fn with<R>(scope: &mut Scope<'_>, f: impl FnOnce() -> R) -> R {
    let entry = Entry { scope: Cell::new(scope.fork()), next: Cell::new(None), arena: None };
    LOCAL.with(|local| {
        local.push(NonNull::from(&entry));
        local.swaps.set(local.swaps.get() + 1);
        local.state.set(local.state.get() | SWAPPED);
        let _swap = Swap { local, entry: &entry };
        f()
    })
}

/// The entry of a [`with`] is in the stack or out until this is dropped (L2).
struct Swap<'e> {
    local: &'e Local,
    entry: &'e Entry,
}

impl Drop for Swap<'_> {
    fn drop(&mut self) {
        self.local.swaps.set(self.local.swaps.get() - 1);
        if self.local.swaps.get() == 0 {
            self.local.state.set(self.local.state.get() & !SWAPPED);
        }
        let found = self.local.unlink(|entry| core::ptr::eq(entry, self.entry));
        if found.is_none() {
            abandoned();
        }
    }
}

/// A scope uses memory that is about to be another's. There is no way on.
#[cold]
fn abandoned() -> ! {
    eprintln!("ebbtide: `local::with` ended while a default scope opened in it was open");
    process::abort()
}

/// Sets the size of this thread's default arenas: how many bytes the first chunk of one has room for, which are
/// 65,024 unless set. Idle arenas are given back; the next scope makes one of the new size.
///
/// # Errors
///
/// [`InUse`] if a default scope of this thread is open. Nothing has changed then.
///
/// ```
/// # use ebbtide::local;
/// local::set_default_capacity(1 << 20)?;
/// ebbtide::scope(|s| assert!(s.stats().capacity >= 1 << 20));
/// ebbtide::scope(|_| assert!(local::set_default_capacity(1 << 10).is_err()));
/// # Ok::<(), local::InUse>(())
/// ```
pub fn set_default_capacity(bytes: usize) -> Result<(), InUse> {
    LOCAL.with(|local| {
        if local.is_in_use() {
            return Err(InUse);
        }
        local.capacity.set(bytes);
        local.free_idle();
        Ok(())
    })
}

/// What the idle default arenas of this thread hold, added up. An arena counts as soon as the scope that
/// is open in it ends.
///
/// ```
/// # use ebbtide::local;
/// ebbtide::scope(|s| s.alloc_slice_fill_copy(100_000, 0u8).len());
/// assert!(local::stats().capacity >= 100_000);
/// assert_eq!(local::stats().used, 0);
/// ```
#[must_use]
pub fn stats() -> Stats {
    LOCAL.with(Local::stats)
}

/// Gives back all memory of this thread's idle default arenas. The next scope makes a new one.
///
/// ```
/// # use ebbtide::local;
/// ebbtide::scope(|s| s.alloc_slice_fill_copy(100_000, 0u8).len());
/// local::trim();
/// assert_eq!(local::stats().held, 0);
/// ```
pub fn trim() {
    LOCAL.with(Local::free_idle);
}

/// A default scope of this thread is open; see [`set_default_capacity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InUse;

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a default scope of this thread is open")
    }
}

impl Error for InUse {}
