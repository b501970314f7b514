//! The default scope: every thread has an arena of its own, which need not be passed as an
//! argument.
//!
//! Use it in functions that need temporary memory but are not passed a scope. The function
//! [`scope`](crate::scope) opens a default scope. Calls nest, and each call gets memory of its own.
//! [`with`] makes a scope of yours the default while a closure runs. Opening and closing take a few
//! instructions. The heap is called only by a thread's first scope, and when a scope needs more
//! memory than any before it.
//!
//! ```
//! fn median(values: &[f64]) -> f64 {
//!     ebbtide::scope(|s| {
//!         let sorted = s.alloc_slice_copy(values);
//!         sorted.sort_by(f64::total_cmp);
//!         sorted[sorted.len() / 2]
//!     })
//! }
//! assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
//!
//! let mut arena = ebbtide::Arena::new();
//! let mut s = arena.scope();
//! assert_eq!(ebbtide::local::with(&mut s, || median(&[5.0])), 5.0); // in `arena`
//! ```
//!
//! A thread's arena keeps its memory until the thread ends: [`trim`] gives it back earlier,
//! [`stats`] says how much it is, and [`set_default_capacity`] sets its initial size.

// # The idea
//
// A thread keeps *entries*. Each holds an open scope; default scopes are children of it. `scope`
// leases an idle entry and returns it when its closure ends or panics. A nested call finds that
// entry leased and takes another one: whatever an inner closure captures, no two scopes in use
// share an entry. `with` puts an entry of the caller's in front of the thread's own.
//
// scope ─► Local::lease
//   ├─ state is READY ─► state = LEASED; a child of `words`               the fast path
//   └─ it is not ──────► lease_other ─► an entry of the stack, the primary one, or a new one
// the lease ends
//   ├─ primary, leased on the fast path ─► state = READY                  the fast path
//   └─ else ───────────────────────────► give_back
//
// One entry, the *primary*, has a copy of its words in the thread-local variable itself. `state`
// there says whether the next scope leases the primary entry. So the fast path follows no pointer,
// and the value that it stores does not depend on an earlier state: successive iterations of a loop
// are independent. The variable has a constant initial value and no destructor, so accessing it
// needs no test. On x86-64, in an executable:
//
// cmp byte ptr fs:[state], 0
// jne cold
// mov byte ptr fs:[state], 1
// mov rax, fs:[top]
// …                              ; the closure
// mov al, fs:[state_when_idle]   ; claims set it
// mov fs:[state], al
//
// # Invariants
//
// - **T1** An entry is the primary one, in the stack, or leased by one guard. An entry in the stack
//   is there once, and is neither leased nor the primary one. `LEASED` is set while the primary
//   entry is leased. A new entry, and one that is about to be freed, may be in none of these
//   states.
// - **T2** An entry in one of these states is alive. An entry on the heap leaves them before it is
//   freed. An entry in a frame of `with` leaves them before the frame ends; otherwise the process
//   aborts.
// - **T3** Only the thread that made an entry reaches it.
// - **T4** The scope of an entry has a child only while the entry is leased, and one at a time.
//
// T1, T2 and T4 hold for any order in which guards are dropped. Closures end in the reverse order
// of their start, unless they run on stacks that the program switches itself. In that case an entry
// in a frame may still be leased when the frame ends; `with` checks for that.

use crate::{
    arena::Arena,
    backing::{Backing, Heap},
    chunk::CLAIMED,
    error::{AllocError, Failure},
    raw::{self, Cursor},
    scope::Scope,
    stats::Stats,
    thread_end::{self, End},
    warm,
};
use core::{
    alloc::Layout, cell::Cell, convert::Infallible, error::Error, fmt, ops::Deref, ptr::NonNull,
};
use std::{eprintln, process, thread_local};

/// The default capacity of an arena: 64 KiB minus the chunk's header and the heap's overhead.
/// Enough for the temporary memory of most functions. Pages that no scope reaches are not resident.
const CAPACITY: usize = 64 * 1024 - 512;

/// The capacity of an arena for nested scopes, unless a smaller one was set. Each level of nesting
/// needs an arena, and most levels use little of it.
const NESTED_CAPACITY: usize = 4 * 1024 - 512;

/// The primary entry is idle, and the next scope leases it.
const READY: u8 = 0;
/// The primary entry is leased, or there is none.
const LEASED: u8 = 1;
/// A closure of [`with`] is running.
const SWAPPED: u8 = 2;

// [`CLAIMED`]: the primary entry is idle, and claims were made in its arena since it was last
// leased on the slow path; some of them may have been forgotten.
const _: () = assert!(CLAIMED & (LEASED | SWAPPED) == 0);

thread_local! {
    static LOCAL: Local = const { Local {
        state: Cell::new(LEASED),
        state_when_idle: Cell::new(READY),
        dead: Cell::new(false),
        swaps: Cell::new(0),
        // SAFETY: these words are used while `state` is `READY` only, for which `make_primary`
        // first replaces them.
        words: Cell::new(Scope::new(unsafe { Cursor::nowhere() })),
        primary: Cell::new(None),
        stack: Cell::new(None),
        open: Cell::new(0),
        capacity: Cell::new(CAPACITY),
    } };
}

/// The state of a thread.
struct Local {
    state: Cell<u8>,
    /// The state after a lease of the primary entry: `READY`, or `CLAIMED`. Claims set it, also on
    /// other threads, if the scope was sent there. So nobody else uses it during a lease.
    state_when_idle: Cell<u8>,
    /// The thread is ending and has freed its idle entries.
    dead: Cell<bool>,
    /// The number of closures of [`with`] that are running.
    swaps: Cell<usize>,
    /// A copy of the primary entry's scope.
    words: Cell<Scope<'static>>,
    primary: Cell<Option<EntryRef>>,
    /// The idle entries except the primary one, linked by `next`.
    stack: Cell<Option<EntryRef>>,
    /// The number of open leases that `lease_other` gave.
    open: Cell<usize>,
    /// The capacity of new arenas.
    capacity: Cell<usize>,
}

/// A scope, and whether an arena of the thread belongs to it. Default scopes are its children.
struct Entry {
    /// Borrows `arena`, or what the frame of [`with`] borrows.
    scope: Cell<Scope<'static>>,
    next: Cell<Option<EntryRef>>,
    /// The thread's own arena; `None` in a frame of [`with`].
    arena: Option<Arena>,
}

/// A pointer to an entry that is alive (T2).
#[derive(Clone, Copy, PartialEq, Eq)]
struct EntryRef(NonNull<Entry>);

impl Deref for EntryRef {
    type Target = Entry;

    #[inline(always)]
    fn deref(&self) -> &Entry {
        // SAFETY: T2: a copy of the pointer comes from one of the states of T1, in which the entry
        // is alive, or belongs to the code that makes or frees the entry.
        unsafe { self.0.as_ref() }
    }
}

impl EntryRef {
    /// Makes an entry on the heap. Its arena does not move, so its scope is opened only once.
    fn make<F: Failure>(capacity: usize) -> Result<EntryRef, F> {
        let layout = Layout::new::<Entry>();
        let Ok(block) = Heap.allocate(layout) else {
            return Err(no_memory(layout));
        };
        let block = block.cast::<Entry>();
        let arena = Arena::with_chunk_size(capacity);
        // SAFETY: the scope is replaced below, before anybody else sees the entry.
        let scope = Cell::new(Scope::new(unsafe { Cursor::nowhere() }));
        // SAFETY: the block was just allocated with the layout of an entry.
        unsafe { block.write(Entry { scope, next: Cell::new(None), arena: Some(arena) }) };
        let entry = EntryRef(block);
        match entry.arena.as_ref().map(Arena::try_root) {
            Some(Ok(root)) => {
                // SAFETY: nobody uses the root again, and the arena stays in its place on the heap
                // until the entry is freed, when it is idle.
                entry.scope.set(Scope::new(unsafe { root.cursor().fork() }));
                Ok(entry)
            }
            _ => {
                // SAFETY: made above, and nothing else has a pointer to it.
                unsafe { entry.free() };
                Err(no_memory(layout))
            }
        }
    }

    /// Takes back the chunks of claims that were forgotten in the thread's own arena.
    ///
    /// # Safety
    ///
    /// No scope of the entry is in use.
    unsafe fn reclaim(self) {
        if let Some(arena) = &self.arena {
            // SAFETY: claims borrow a scope of the arena. Those of this entry are its only ones,
            // and none is in use.
            unsafe { arena.reclaim_forgotten() };
        }
    }

    /// Drops the entry and frees its memory.
    ///
    /// # Safety
    ///
    /// [`EntryRef::make`] made it, no scope of it is in use, and no copy of the pointer is used
    /// again.
    unsafe fn free(self) {
        // SAFETY: the entry is alive until now (T2), and nothing uses it any more.
        unsafe { self.0.drop_in_place() };
        // SAFETY: `make` took the block from the heap with this layout.
        unsafe { Heap.release(self.0.cast(), Layout::new::<Entry>()) };
    }
}

/// A child of an entry's scope.
///
/// # Safety
///
/// The entry is leased, this is its only child (T4), and it is not used after the lease ends.
#[inline(always)]
unsafe fn child_of<'s>(scope: &Cell<Scope<'static>>) -> Scope<'s> {
    // SAFETY: only the cell of an idle entry is ever set, and this one is leased.
    let scope = unsafe { &*scope.as_ptr() };
    // SAFETY: the scope of an entry is a fork in which only its children allocate. This is the only
    // child, and the entry keeps its arena in place.
    Scope::new(unsafe { scope.cursor().fork_again() })
}

/// Reports that there is no memory for an entry.
#[cold]
fn no_memory<F: Failure>(layout: Layout) -> F {
    if F::DIVERGES {
        raw::out_of_memory(layout.size(), layout.align());
    }
    F::refused()
}

/// Keeps an entry leased until dropped.
struct Lease<'l> {
    local: &'l Local,
    /// `None` for the primary entry, if `state` was [`READY`].
    other: Option<EntryRef>,
    scope: &'l Cell<Scope<'static>>,
}

impl Drop for Lease<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.other {
            // The stored value does not depend on the current state, so that successive iterations
            // of a loop are independent. Every [`with`] that began during the lease has ended. If
            // one has not, it runs on a switched stack, and its scope is no longer the default.
            None => self.local.state.set(self.local.state_when_idle.get()),
            Some(entry) => self.local.give_back(entry),
        }
    }
}

impl Local {
    #[inline(always)]
    fn lease<F: Failure>(&self) -> Result<Lease<'_>, F> {
        if self.state.get() == READY {
            self.state.set(LEASED);
            return Ok(Lease { local: self, other: None, scope: &self.words });
        }
        let entry = self.lease_other()?;
        // SAFETY: T1, T2: the entry is leased until the guard gives it back, and alive until then.
        let scope = &unsafe { entry.0.as_ref() }.scope;
        Ok(Lease { local: self, other: Some(entry), scope })
    }

    /// Takes the entry on top of the stack, or the primary one, or a new one.
    #[cold]
    #[inline(never)]
    fn lease_other<F: Failure>(&self) -> Result<EntryRef, F> {
        // If the primary entry is idle but marked as claimed, leases it here, so that the next
        // scope takes the fast path again.
        let idle = match self.state.get() {
            CLAIMED => self.take_primary(),
            _ => self.pop().or_else(|| self.take_primary()),
        };
        let entry = match idle {
            Some(entry) => entry,
            None => {
                let most = if self.primary.get().is_some() { NESTED_CAPACITY } else { usize::MAX };
                let made = EntryRef::make::<F>(self.capacity.get().min(most))?;
                self.make_primary(made);
                made
            }
        };
        self.open.set(self.open.get() + 1);
        Ok(entry)
    }

    /// Leases the primary entry if it is idle.
    fn take_primary(&self) -> Option<EntryRef> {
        if self.state.get() & LEASED != 0 {
            return None;
        }
        let primary = self.primary.get();
        if let Some(primary) = primary {
            // SAFETY: the entry is not leased, as tested above, so no scope of it is in use (T4).
            unsafe { primary.reclaim() };
        }
        self.state_when_idle.set(READY);
        self.state.set(self.state.get() & SWAPPED | LEASED);
        primary
    }

    /// Makes a new entry the primary one, if there is none and the thread is not ending. It counts
    /// as leased.
    fn make_primary(&self, made: EntryRef) {
        // Others may have been told of the end of the thread, and this variable not.
        let is_ending = || {
            self.dead.set(self.dead.get() || !thread_end::call(End::Arenas, end));
            self.dead.get()
        };
        if self.primary.get().is_none() && !is_ending() {
            // SAFETY: T4: the primary entry has one lease at a time, which uses either the entry's
            // scope or this copy.
            self.words.set(unsafe { child_of(&made.scope) });
            if let Some(arena) = &made.arena {
                let mark = NonNull::from(&self.state_when_idle);
                // SAFETY: the cell is the thread's and has no destructor; the arena is freed with
                // the thread at the latest. The cell is used at the beginning and the end of a
                // lease, when no scope of the arena is anywhere else.
                unsafe { arena.set_claim_mark(mark) };
            }
            self.primary.set(Some(made));
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back(&self, entry: EntryRef) {
        self.open.set(self.open.get() - 1);
        // SAFETY: its one lease ends (T1), so no scope of the entry is in use.
        unsafe { entry.reclaim() };
        if self.primary.get() == Some(entry) {
            self.state.set(self.state.get() & !LEASED);
        } else if entry.arena.is_some() && self.dead.get() {
            // SAFETY: an entry of the heap. Its one lease ends, and it is in no other state (T1).
            unsafe { entry.free() };
        } else {
            self.push(entry);
        }
    }

    fn push(&self, entry: EntryRef) {
        entry.next.set(self.stack.get());
        self.stack.set(Some(entry));
    }

    fn pop(&self) -> Option<EntryRef> {
        self.unlink(&|_| true)
    }

    /// Unlinks the first entry of the stack for which `wanted` returns true.
    fn unlink(&self, wanted: &dyn Fn(EntryRef) -> bool) -> Option<EntryRef> {
        let mut before: Option<EntryRef> = None;
        let mut next = self.stack.get();
        while let Some(entry) = next {
            if wanted(entry) {
                match before {
                    None => self.stack.set(entry.next.get()),
                    Some(before) => before.next.set(entry.next.get()),
                }
                return Some(entry);
            }
            next = entry.next.get();
            before = Some(entry);
        }
        None
    }

    /// Frees every idle arena of the thread.
    #[inline]
    fn free_idle(&self) {
        if let Some(primary) = self.take_primary() {
            self.primary.set(None);
            // SAFETY: it was idle, and is in none of the states of T1 now.
            unsafe { primary.free() };
        }
        // One at a time: the heap may use default scopes itself.
        while let Some(entry) = self.unlink(&|entry| entry.arena.is_some()) {
            // SAFETY: an entry of the heap that was idle, and is in none of the states of T1 now.
            unsafe { entry.free() };
        }
    }

    /// Frees the entries of a thread that ends. Those that become idle later are freed at once.
    fn end(&self) {
        self.dead.set(true);
        self.free_idle();
    }

    /// Whether a default scope is open.
    fn is_in_use(&self) -> bool {
        let primary_is_leased = self.primary.get().is_some() && self.state.get() & LEASED != 0;
        primary_is_leased || self.open.get() > 0
    }

    fn stats(&self) -> Stats {
        let primary = self.primary.get().filter(|_| self.state.get() & LEASED == 0);
        let stack = core::iter::successors(self.stack.get(), |entry| entry.next.get());
        let mut sum = Stats::default();
        for entry in primary.into_iter().chain(stack) {
            if let Some(arena) = &entry.arena {
                sum += arena.stats();
            }
        }
        sum
    }
}

/// Frees the entries of a thread when it ends. A scope that is opened later, in the destructor of
/// another thread-local variable, has an arena that is freed when the scope ends.
///
/// A leased entry stays: the process is exiting from within a scope, whose memory other destructors
/// may still read.
extern "C" fn end() {
    // Where thread-local variables are emulated, this one may be gone already; its entries stay.
    let _ = LOCAL.try_with(Local::end);
}

/// Runs `f` with a scope of this thread's default arena. Everything allocated in it is free again
/// when `f` returns or panics.
///
/// The arena is made on first use, stays for the next scope, and is freed with the thread. Opening
/// and closing the scope costs two more stores than with an arena of your own.
///
/// The scope is passed by value: write `mut s` to open children. A call inside `f` gets another
/// arena, so an outer scope can be used inside an inner closure. If nothing needs both, a child,
/// `s.scope()`, takes less memory.
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
/// Allocations cannot leave the closure:
///
/// ```compile_fail
/// let escaped = ebbtide::scope(|s| s.alloc(1));
/// ```
#[inline(always)]
pub fn scope<R>(f: impl for<'s> FnOnce(Scope<'s>) -> R) -> R {
    let Ok(result) = run::<R, Infallible>(f);
    result
}

/// Fallible version of [`scope()`].
///
/// # Errors
///
/// [`AllocError`] if there is no idle arena and the heap has no memory for one. `f` did not run
/// then.
///
/// # Panics
///
/// Only if `f` does.
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
        let lease = local.lease::<F>()?;
        // SAFETY: the entry is leased until the guard is dropped, after `f`. The same `f` works for
        // every lifetime, so it can keep neither the scope nor what is allocated in it.
        let child = unsafe { child_of(lease.scope) };
        Ok(f(child))
    })
}

/// Runs `f` with `scope` as the default: a call of [`scope()`](crate::scope()) in `f`, however
/// deep, gets a child of it.
///
/// `scope` may be a scope of any kind: of an arena with a custom backing, of a
/// [`Fixed`](crate::Fixed), or another default scope. Calls nest. When `f` returns or panics, the
/// default is what it was before, and `scope` can be used again.
///
/// While a default scope is open in it, a nested one gets another arena. To nest in the same
/// memory, make the inner scope the default in turn, as in the second example.
///
/// # Panics
///
/// Only if `f` does. Aborts the process if a default scope that was opened in `f` is still open
/// when `f` ends. This is possible only if the program switches stacks itself.
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
    // SAFETY: the exclusive borrow of `scope` lasts as long as the frame, and the entry is unlinked
    // before the frame ends.
    let child = Scope::new(unsafe { scope.cursor().fork() });
    let entry = Entry { scope: Cell::new(child), next: Cell::new(None), arena: None };
    LOCAL.with(|local| {
        local.push(EntryRef(NonNull::from(&entry)));
        local.swaps.set(local.swaps.get() + 1);
        local.state.set(local.state.get() | SWAPPED);
        let _swap = Swap { local, entry: &entry };
        f()
    })
}

/// Removes the entry of a [`with`] from the thread's entries when dropped (T2).
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
        let found = self.local.unlink(&|entry| core::ptr::eq(&*entry, self.entry));
        if found.is_none() {
            abandoned();
        }
    }
}

/// Aborts the process: an open scope uses memory that is about to be reused.
#[cold]
fn abandoned() -> ! {
    eprintln!("ebbtide: `local::with` ended while a default scope opened in it was open");
    process::abort()
}

/// Sets the capacity of the first chunk of this thread's default arena, in bytes; it is 65,024
/// unless set. Arenas of nested scopes begin with 3,584 bytes, or with this capacity if it is
/// smaller. Frees the idle arenas; the next scope makes one of the new size.
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
#[inline]
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

/// The sum of the statistics of this thread's idle default arenas. An arena in which a scope is
/// open counts again once that scope has ended.
///
/// ```
/// # use ebbtide::local;
/// ebbtide::scope(|s| s.alloc_slice_fill_copy(100_000, 0u8).len());
/// assert!(local::stats().capacity >= 100_000);
/// assert_eq!(local::stats().used, 0);
/// ```
#[inline]
#[must_use]
pub fn stats() -> Stats {
    LOCAL.with(Local::stats)
}

/// Frees all memory of this thread's idle default arenas, and what is [kept](crate::warm) for other
/// arenas. The next scope makes a new one.
///
/// ```
/// # use ebbtide::local;
/// ebbtide::scope(|s| s.alloc_slice_fill_copy(100_000, 0u8).len());
/// local::trim();
/// assert_eq!(local::stats().held, 0);
/// ```
#[inline]
pub fn trim() {
    LOCAL.with(Local::free_idle);
    warm::trim();
}

/// A default scope of this thread is open; see [`set_default_capacity`].
///
/// ```
/// use ebbtide::local::{InUse, set_default_capacity};
///
/// ebbtide::scope(|_| assert_eq!(set_default_capacity(1 << 20), Err(InUse)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InUse;

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a default scope of this thread is open")
    }
}

impl Error for InUse {}
