//! What happens to blocks that are not only counted: they are recorded, timed, or tell of the stack.

use super::{
    loaded::Loaded,
    local::{Busy, Due, Local, NEVER, local},
    mode::{COPIED, NOT_YET, ON, mode},
    process::{follow, with},
    rate,
    slots::{self, Slot},
    stacks::{self, Unwound},
    state::State,
};
use crate::behind::{self, Request};
use core::{ffi::c_void, ptr};

/// The blocks from a recorded one to those that tell which of its calls have ended: 1, 4, 16 and so on,
/// or, of every other one, twice as many. Near ones are for calls with few blocks, far ones for many.
const FARTHER: i64 = 4;

/// Of blocks that are all recorded, one in so many is allocated and freed by the C library as well, to
/// time it.
const TIMED: u64 = 16;

/// A block that was recorded or timed; `None` if the C library serves the request.
///
/// `end` is where the allocator's frame ends.
#[cold]
#[inline(never)]
pub(crate) fn alloc(request: Request, is_zeroed: bool, end: usize) -> Option<*mut c_void> {
    let local = local();
    let mut busy = Busy::enter(local)?;
    let mode = match mode() {
        COPIED => follow(),
        mode => mode,
    };
    match mode {
        ON => {}
        // Until the library is ready, which takes few allocations.
        NOT_YET => {
            busy.countdown = 0;
            return None;
        }
        _ => {
            busy.countdown = NEVER;
            return None;
        }
    }
    if stacks::is_unwinder(end) || request.recorded.is_null() && behind::is_asked() {
        busy.countdown = 0;
        return None;
    }
    let began = rate::ticks();
    match local.due.get() {
        Due::Warm => {
            local.due.set(Due::Time);
            busy.countdown = 0;
            timed(request, is_zeroed).0
        }
        Due::Time => {
            local.due.set(Due::Birth);
            local.times_free.set(true);
            busy.countdown = local.left.get();
            let (block, ticks) = timed(request, is_zeroed);
            with(|state| state.journal.cost(false, request.size, ticks, state.rate.weight()));
            block
        }
        Due::Next => {
            busy.countdown = look(local, began, end);
            None
        }
        Due::Birth if local.thread.get() == 0 => {
            let wait = with(|state| state.new_thread(local)).unwrap_or(NEVER);
            busy.countdown = wait - 1;
            if wait > 0 { None } else { record(&mut busy, request, is_zeroed, began, end) }
        }
        Due::Birth => record(&mut busy, request, is_zeroed, began, end),
    }
}

/// Looks which calls of the thread's latest recorded block have ended. Returns the number of blocks until
/// the next one that is due.
fn look(local: &Local, began: u64, end: usize) -> i64 {
    let unwound = Unwound::here(end);
    let is_over = with(|state| {
        let is_over = state.follows(local, &unwound);
        state.spend(local, began);
        is_over
    });
    let more = local.gap.get() * (FARTHER - 1);
    if is_over == Some(false) && more <= local.left.get() {
        local.gap.set(local.gap.get() + more);
        local.left.set(local.left.get() - more);
        return more - 1;
    }
    let (left, half) = (local.left.get(), local.left.get() / 2);
    let is_timed = left > 1;
    local.due.set(if is_timed { Due::Warm } else { Due::Birth });
    local.left.set(left - half - 2);
    if is_timed { half } else { left }
}

/// A recorded block; `None` if there is no room for it.
fn record(
    busy: &mut Busy<'_>,
    request: Request,
    is_zeroed: bool,
    began: u64,
    end: usize,
) -> Option<*mut c_void> {
    let local = busy.local;
    let unwound = Unwound::here(end);
    let is_known = |state: &mut State| unwound.addresses().all(|address| state.knows(address));
    let unknown = with(|state| (!is_known(state)).then_some(state.added)).flatten();
    if let Some(added) = unknown {
        let loaded = Loaded::now(added);
        with(|state| state.learn(loaded));
    }
    if local.exponent.get() == 0 && with(|state| state.births % TIMED == 0) == Some(true) {
        time_another(request, is_zeroed);
    }
    with(|state| {
        let born = state.born(local, request, is_zeroed, &unwound);
        let wait = state.draw(local);
        // Later blocks tell which calls of the recorded one have ended.
        let gap = if wait > 1 { 1 << (state.births % 2) } else { 1 };
        local.due.set(if wait > 0 { Due::Next } else { Due::Birth });
        local.gap.set(gap);
        local.left.set(wait - gap);
        busy.countdown = if wait > 0 { gap - 1 } else { 0 };
        state.spend(local, began);
        born
    })
    .flatten()
}

/// A block of the allocator behind this one, if there is one, and the time that it took. One function, so
/// that a first call warms it.
#[inline(never)]
fn timed(request: Request, is_zeroed: bool) -> (Option<*mut c_void>, u64) {
    let began = rate::start_ticks();
    let block = request.alloc(is_zeroed);
    let ticks = rate::ticks().saturating_sub(began);
    ((!block.is_null()).then_some(block), ticks)
}

/// Times a block of the allocator behind this one beside a recorded one. The first of two is not timed:
/// the recorder's own code has emptied the caches.
fn time_another(request: Request, is_zeroed: bool) {
    for is_warm in [false, true] {
        let (Some(block), ticks) = timed(request, is_zeroed) else { return };
        let began = rate::start_ticks();
        // SAFETY: the allocator served the block for this request just now, and nobody else knows it.
        unsafe { request.free(block) };
        let freed = rate::ticks().saturating_sub(began);
        if is_warm {
            with(|state| {
                state.journal.cost(false, request.size, ticks, 1);
                state.journal.cost(true, 0, freed, 1);
            });
        }
    }
}

/// Frees a recorded block.
///
/// # Safety
///
/// The block is alive, and was recorded. It is not used again.
#[cold]
#[inline(never)]
pub(crate) unsafe fn free(block: *mut c_void, end: usize) {
    let local = local();
    let mut busy = Busy::enter(local);
    let began = rate::ticks();
    // SAFETY: the caller says that the block was recorded.
    let slot = unsafe { slots::slot_of(block) };
    // SAFETY: the slot of a block that is alive, which nobody changes meanwhile.
    let Slot { id, thread, .. } = unsafe { *slot };
    let is_on = mode() == ON;
    let (mut kept, mut place) = (0, 0);
    if is_on && thread == local.thread.get() {
        // SAFETY: the block is alive until its slot is given back, below.
        let callers = unsafe { slots::callers(slot) };
        let unwound = Unwound::here(end);
        kept = unwound.kept(callers);
        place = unwound.place(kept);
    }
    let since = busy.as_ref().map_or(0, Busy::since_latest);
    let wait = with(|state| {
        let is_new = is_on && local.thread.get() == 0;
        let wait = is_new.then(|| state.new_thread(local));
        if is_on {
            state.dies(local, [id, kept, place, since]);
        }
        // SAFETY: the slot was taken here, and its block is not used again.
        unsafe { state.slots.give(slot) };
        if is_on {
            state.spend(local, began);
        }
        wait
    });
    if let (Some(busy), Some(wait)) = (&mut busy, wait.flatten()) {
        busy.countdown = wait;
    }
    drop(busy);
}

/// Frees a block of the allocator behind this one, and records the time that this takes.
///
/// # Safety
///
/// The block is of this request. It is not used again.
#[cold]
#[inline(never)]
pub(crate) unsafe fn free_timed(request: Request, block: *mut c_void) {
    let local = local();
    let busy = Busy::enter(local);
    let began = rate::start_ticks();
    // SAFETY: by this function's contract, the block is of this request, and not used again.
    unsafe { request.free(block) };
    let ticks = rate::ticks().saturating_sub(began);
    // The recorder's own blocks are not timed.
    if busy.is_some() {
        local.times_free.set(false);
        if mode() == ON {
            with(|state| state.journal.cost(true, 0, ticks, state.rate.weight()));
        }
    }
}

/// Resizes a recorded block for another request. Null if there is no memory: then the block is as it was.
///
/// # Safety
///
/// The block is alive, and was recorded. If the result is not null, it is not used again.
#[cold]
#[inline(never)]
pub(crate) unsafe fn resize(block: *mut c_void, request: Request, end: usize) -> *mut c_void {
    let Request { size, align, .. } = request;
    let busy = Busy::enter(local());
    // SAFETY: the caller says that the block was recorded.
    let slot = unsafe { slots::slot_of(block) };
    // SAFETY: the slot of a block that is alive.
    let old = unsafe { *slot };
    // SAFETY: the block is alive, and was recorded.
    let room = unsafe { slots::usable_size(block) };
    let moved = with(|state| {
        if mode() == ON {
            state.resized(old.id, size);
        }
        if size <= room && size >= room / 4 {
            return block;
        }
        // SAFETY: the block is alive until its slot is given back, below.
        let callers = unsafe { slots::callers(slot) };
        let Some((new, new_slot)) = state.slots.take(size, align, callers.iter().copied()) else {
            return ptr::null_mut();
        };
        // SAFETY: the slot was taken for this block, which continues the old one.
        unsafe { (*new_slot).begin(old.id, old.thread) };
        // SAFETY: both blocks are alive, are different, and have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), room.min(size)) };
        // SAFETY: the slot was taken here, and its block is not used again.
        unsafe { state.slots.give(slot) };
        new
    });
    drop(busy);
    if let Some(moved) = moved.filter(|moved| !moved.is_null()) {
        return moved;
    }
    let new = request.alloc(false);
    if !new.is_null() {
        // SAFETY: both blocks are alive, are different, and have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), room.min(size)) };
        // SAFETY: the caller's block, which is not used again.
        unsafe { free(block, end) };
    }
    new
}
