//! Claim: called as the header calls it, the library respects Rust's rules for aliasing and
//! provenance. The test is small enough for Miri; programs in C check everything else.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "sequences of calls, as C makes them")]

use ebbtide_capi::{
    ebb_alloc_low_slowly_, ebb_alloc_slowly_, ebb_arena, ebb_arena_free, ebb_arena_merge,
    ebb_arena_new, ebb_arena_new_in, ebb_arena_reset, ebb_arena_set_limit, ebb_arena_shrink,
    ebb_arena_stats, ebb_arena_storage, ebb_arena_trim, ebb_cleanup_, ebb_cleanups_, ebb_fixed_new,
    ebb_free_ranges_, ebb_last_status, ebb_make_room_, ebb_open_slowly_, ebb_owns,
    ebb_run_cleanups_, ebb_scope, ebb_scope_stats, ebb_spilling_new, ebb_stats, ebb_status,
    ebb_thread_close_, ebb_thread_open_, ebb_thread_trim,
};
use std::{
    ffi::c_void,
    mem::MaybeUninit,
    ptr::{null, null_mut},
};

/// Opens a scope like the header: if the first word of the arena is 0, sets it to 1 and copies the
/// next three.
unsafe fn open(arena: *mut ebb_arena) -> ebb_scope {
    let mut scope = MaybeUninit::uninit();
    let words = arena.cast::<usize>();
    // SAFETY: the first word of an arena.
    if unsafe { words.read() } != 0 {
        // SAFETY: an arena, and a variable.
        unsafe { ebb_open_slowly_(arena, scope.as_mut_ptr()) };
        // SAFETY: written by the call.
        return unsafe { scope.assume_init() };
    }
    // SAFETY: the first word of an arena, which nobody else uses.
    unsafe { words.write(1) };
    // SAFETY: the words behind it.
    let words = unsafe { words.add(1).cast::<ebbtide::front_end::Words>().read() };
    ebb_scope { words, state: arena.cast() }
}

unsafe fn close(arena: *mut ebb_arena) {
    // SAFETY: the first word of an arena.
    unsafe { arena.cast::<usize>().write(0) };
}

unsafe fn fill(scope: *mut ebb_scope) {
    for size in [8_usize, 40, 3_000, 100_000] {
        // SAFETY: an open scope.
        let high = unsafe { ebb_alloc_slowly_(scope, size, 8) };
        // SAFETY: an open scope.
        let low = unsafe { ebb_alloc_low_slowly_(scope, size, 16) };
        for block in [high, low] {
            if !block.is_null() {
                // SAFETY: `size` bytes.
                unsafe { block.cast::<u8>().write_bytes(1, size) };
            }
        }
        // The fast path of the header. SAFETY: a scope.
        let words = unsafe { &mut (*scope).words };
        let start = (words.top - 8) & !7;
        if start >= words.low.addr() {
            words.top = start;
            // SAFETY: eight free bytes.
            unsafe { words.low.with_addr(start).cast::<u64>().write(7) };
        }
    }
}

unsafe extern "C" fn touch(start: *const c_void, size: usize) {
    assert!(size == 0 || !start.is_null());
}

/// A node as the header links it, with its first-of-scope flag.
#[repr(C)]
struct Node {
    older: *mut ebb_cleanup_,
    run: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
    is_first: bool,
}

unsafe extern "C" fn count(runs: *mut c_void) {
    // SAFETY: the argument of `defer`.
    unsafe { *runs.cast::<u32>() += 1 };
}

/// Defers a function that counts its calls, as the header does. False if there is no room, or the
/// scope is Rust's.
unsafe fn defer(scope: *mut ebb_scope, runs: *mut u32, is_first: bool) -> bool {
    // SAFETY: an open scope.
    let list = unsafe { ebb_cleanups_(scope) };
    // SAFETY: an open scope.
    let node = unsafe { ebb_alloc_slowly_(scope, size_of::<Node>(), align_of::<Node>()) };
    if list.is_null() || node.is_null() {
        return false;
    }
    // SAFETY: the list of the arena, and a block for the node.
    unsafe {
        let (run, argument) = (count as unsafe extern "C" fn(*mut c_void), runs.cast());
        node.cast::<Node>().write(Node { older: list.read(), run, argument, is_first });
        list.write(node.cast());
    }
    true
}

/// A rewind and the end of a scope run what was deferred.
unsafe fn use_deferred(arena: *mut ebb_arena, is_reset: bool) {
    let (mut runs, mut expected) = (0, 0);
    // SAFETY: an arena without an open scope, for the whole body.
    unsafe {
        let mut scope = open(arena);
        expected += u32::from(defer(&raw mut scope, &raw mut runs, true));
        let (mark, before) = (scope, expected);
        fill(&raw mut scope);
        expected += u32::from(defer(&raw mut scope, &raw mut runs, expected == 0));
        fill(&raw mut scope);
        let ran_first = ebb_run_cleanups_(&raw const mark, false);
        assert_eq!((runs, ran_first), (expected - before, before == 0 && expected > 0));
        scope.words = mark.words;
        if is_reset {
            assert_eq!(ebb_arena_reset(arena), ebb_status::EBB_OK);
        } else {
            ebb_run_cleanups_(&raw const scope, true);
            close(arena);
        }
    }
    assert_eq!(runs, expected);
}

/// Everything that is allowed while a scope is open, and while none is.
unsafe fn use_arena(arena: *mut ebb_arena) {
    assert!(!arena.is_null());
    let mut stats = MaybeUninit::<ebb_stats>::uninit();
    // SAFETY: the first field of the variable.
    unsafe { stats.as_mut_ptr().cast::<usize>().write(size_of::<ebb_stats>()) };
    for is_reset in [false, true] {
        // SAFETY: an arena without an open scope.
        unsafe { use_deferred(arena, is_reset) };
        // SAFETY: an arena, for the whole body: the calls follow the order of the header.
        unsafe {
            let mut scope = open(arena);
            fill(&raw mut scope);
            assert_eq!(ebb_arena_stats(arena, stats.as_mut_ptr()), ebb_status::EBB_OK);
            assert_eq!(ebb_arena_set_limit(arena, 0), ebb_status::EBB_OK);
            assert_eq!(ebb_arena_trim(arena), ebb_status::EBB_OPEN);
            fill(&raw mut scope);
            ebb_make_room_(&raw mut scope);
            let mut child = scope;
            child.words.top &= !15;
            let mark = child.words;
            fill(&raw mut child);
            child.words = mark;
            fill(&raw mut child);
            ebb_make_room_(&raw mut scope);
            fill(&raw mut scope);
            assert_eq!(ebb_scope_stats(&raw const scope, stats.as_mut_ptr()), ebb_status::EBB_OK);
            ebb_free_ranges_(null(), &raw const scope, Some(touch));
            assert!(!ebb_owns(&raw const scope, arena.cast()));
            close(arena);
            ebb_free_ranges_(arena, null(), Some(touch));
            let mut again = open(arena);
            fill(&raw mut again);
            close(arena);
            assert_eq!(ebb_arena_trim(arena), ebb_status::EBB_OK);
            let mut again = open(arena);
            fill(&raw mut again);
            close(arena);
            assert_eq!(ebb_arena_merge(arena), ebb_status::EBB_OK);
            assert_eq!(ebb_arena_shrink(arena, 0), ebb_status::EBB_OK);
        }
    }
    // SAFETY: no scope is open.
    assert_eq!(unsafe { ebb_arena_free(arena) }, ebb_status::EBB_OK);
}

#[test]
fn arenas_of_every_kind() {
    let mut storage = MaybeUninit::<ebb_arena_storage>::uninit();
    let mut buffer = [0_u8; 2000];
    // SAFETY: the storage and the buffer outlive each arena.
    unsafe {
        use_arena(ebb_arena_new(null()));
        use_arena(ebb_arena_new_in(storage.as_mut_ptr(), null()));
        let bytes = buffer.as_mut_ptr().cast();
        use_arena(ebb_fixed_new(storage.as_mut_ptr(), bytes, 2000));
        use_arena(ebb_spilling_new(storage.as_mut_ptr(), bytes, 2000, null()));
        use_arena(ebb_fixed_new(storage.as_mut_ptr(), null_mut(), 0));
    }
}

/// Nothing would run it.
#[test]
fn a_scope_of_rust_defers_nothing() {
    let mut arena = ebbtide::Arena::new();
    let mut scope = ebb_scope::lend(arena.scope());
    // SAFETY: an open scope.
    assert!(unsafe { ebb_cleanups_(&raw mut scope) }.is_null());
    assert_eq!(ebb_last_status(), ebb_status::EBB_LENT);
}

#[test]
fn scopes_of_threads() {
    let run = || {
        let mut scopes = [const { MaybeUninit::<ebb_scope>::uninit() }; 3];
        for _ in 0..2 {
            for scope in &mut scopes {
                // SAFETY: a variable.
                unsafe { ebb_thread_open_(scope.as_mut_ptr()) };
                // SAFETY: a scope, which is open.
                unsafe { fill(scope.as_mut_ptr()) };
            }
            for scope in &scopes {
                // SAFETY: written above.
                let state = unsafe { scope.assume_init_ref() }.state;
                let arena = state.map_addr(|address| address & !15).cast::<ebb_arena>();
                // SAFETY: the arena of an open scope, which is not used again.
                unsafe { ebb_thread_close_(arena) };
            }
        }
    };
    run();
    ebb_thread_trim();
    std::thread::spawn(run).join().unwrap();
}
