//! Arenas inside arenas: buffers, backings and pools that take their memory from a scope of another
//! arena, four deep, with vectors that are passed every scope in reach. Some are moved to children,
//! whose results their scopes keep.

use super::input::Input;
use ebbtide::{
    AllocError, Arena, Backing, Fixed, ForLifetime, Pool, Scope, StackArena,
    collections::{NodeVec, Vec as ScopeVec},
    local,
};
use std::{alloc::Layout, cell::RefCell, mem::MaybeUninit, ptr::NonNull};

/// The levels of arenas inside each other.
const DEEPEST: usize = 4;

/// A vector, and what it should hold.
type Node<'a> = (NodeVec<'a, u8>, Vec<u8>);

/// The scope of one level, and the slices allocated in it, each with a copy of its bytes.
struct Frame<'a> {
    scope: &'a Scope<'a>,
    slices: RefCell<Vec<(&'a mut [u8], Vec<u8>)>>,
}

/// A frame, independent of the lifetime of its scope.
trait Ancestor {
    /// Allocates a slice that lives as long as the scope.
    fn allocate(&self, input: &mut Input<'_>);
    fn check(&self);
}

impl Ancestor for Frame<'_> {
    fn allocate(&self, input: &mut Input<'_>) {
        if input.below(4) == 0 {
            // Often empty. If it does not fit, the scope's top is rounded.
            let _ = self.scope.try_alloc_uninit_slice::<u128>(input.size());
            return;
        }
        let model = bytes(input);
        let slice = match input.below(3) {
            0 => self.scope.try_alloc_slice_copy(&model).ok(),
            1 => self.scope.try_alloc_slice_from_iter(model.iter().copied().filter(|_| true)).ok(),
            _ => ScopeVec::try_from_iter_in(model.iter().copied(), self.scope)
                .ok()
                .map(ScopeVec::into_slice),
        };
        self.slices.borrow_mut().extend(slice.map(|slice| (slice, model)));
    }

    fn check(&self) {
        for (slice, model) in self.slices.borrow().iter() {
            assert!(**slice == **model, "a slice was overwritten");
        }
    }
}

/// Chunks that are blocks of another scope, at either end.
#[derive(Clone, Copy)]
struct FromScope<'s> {
    scope: &'s Scope<'s>,
    is_low: bool,
}

// SAFETY: this target uses one thread.
unsafe impl Send for FromScope<'_> {}

// SAFETY: each block is allocated once, lives as long as the scope, and is not given back.
unsafe impl Backing for FromScope<'_> {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let block = if self.is_low {
            ebbtide::front_end::alloc_low(self.scope, layout)?
        } else {
            self.scope.try_alloc_layout(layout)?
        };
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    unsafe fn release(&self, _: NonNull<u8>, _: Layout) {}
}

fn bytes(input: &mut Input<'_>) -> Vec<u8> {
    let (len, first) = (input.size() % 600, input.byte());
    (0..len).map(|i| first.wrapping_add(i as u8)).collect()
}

/// A memory region inside a scope, given as a buffer at its low end.
fn low_buffer<'a>(scope: &Scope<'a>, len: usize) -> Option<&'a mut [MaybeUninit<u8>]> {
    let mut buffer = NodeVec::new();
    buffer.with(scope).try_reserve_exact(len).ok()?;
    buffer.with(scope).try_resize(len, MaybeUninit::uninit()).ok()?;
    Some(buffer.into_slice())
}

/// Runs operations on vectors of one level, and levels inside it.
fn level<'l>(
    input: &mut Input<'_>,
    depth: usize,
    scope: &'l Scope<'l>,
    outer: &[&'l Scope<'l>],
    ancestors: &[&dyn Ancestor],
    mut nodes: Vec<Node<'l>>,
) {
    let frame = Frame { scope, slices: RefCell::default() };
    let mut ancestors = ancestors.to_vec();
    ancestors.push(&frame);
    let mut reach = outer.to_vec();
    reach.push(scope);
    for _ in 0..input.below(24) {
        let scope = reach[input.below(reach.len())];
        match input.below(18) {
            0 | 1 => ancestors[input.below(ancestors.len())].allocate(input),
            2 | 3 if depth < DEEPEST => {
                let host = reach[input.below(reach.len())];
                let given = nodes.split_off(nodes.len() - input.below(nodes.len() + 1));
                inside(input, depth + 1, host, &reach, &ancestors, given);
            }
            4..=6 => nodes.extend(node(input, scope)),
            17 => {
                let other = reach[input.below(reach.len())];
                if let [.., one, two] = &mut nodes[..] {
                    exchange(input, [scope, other], one, two);
                }
            }
            _ => {
                let index = input.below(256) % nodes.len().max(1);
                if let Some(at) = nodes.get_mut(index) {
                    change(input, scope, at);
                }
            }
        }
        ancestors.iter().for_each(|ancestor| ancestor.check());
        for (list, model) in &nodes {
            assert!(list[..] == model[..], "a vector was overwritten");
        }
    }
}

/// A new vector. Half of them take all that is free in the scope, or all but a few bytes, and fill
/// a part of it.
fn node<'l>(input: &mut Input<'_>, scope: &Scope<'l>) -> Option<Node<'l>> {
    let mut model = bytes(input);
    let stats = scope.stats();
    let free = (stats.capacity - stats.used).min(2_000);
    let capacity = match input.below(4) {
        0 => free.saturating_sub(1),
        1 => free.saturating_sub(input.below(16)),
        _ => model.len(),
    };
    model.truncate(capacity);
    let list = if input.flag() {
        let mut list = NodeVec::new();
        list.with(scope).try_reserve_exact(capacity).ok()?;
        list.with(scope).try_extend_from_slice(&model).ok()?;
        list
    } else {
        let mut list = ScopeVec::try_with_capacity_in(capacity, scope).ok()?;
        list.try_extend_from_slice(&model).ok()?;
        list.into_node_vec()
    };
    Some((list, model))
}

/// Changes a vector through a scope that need not be its own.
fn change<'l>(input: &mut Input<'_>, scope: &Scope<'l>, (list, model): &mut Node<'l>) {
    match input.below(10) {
        0 | 1 => list.with(scope).shrink_to_fit(),
        2 => list.with(scope).shrink_to(input.size()),
        3 => {
            let len = input.size().min(model.len());
            list.truncate(len);
            model.truncate(len);
        }
        4 => {
            let value = input.byte();
            if list.try_push(scope, value).is_ok() {
                model.push(value);
            }
        }
        5 => drop(list.with(scope).try_reserve_exact(input.size())),
        6 => {
            let at = input.size().min(model.len());
            let _ = list.split_off(at);
            model.truncate(at);
        }
        7 => {
            // The vector takes the memory of this scope from now on.
            let mut own = std::mem::take(list).into_vec(scope);
            let value = input.byte();
            if input.flag() && own.try_push(value).is_ok() {
                model.push(value);
            }
            own.shrink_to_fit();
            *list = own.into_node_vec();
        }
        _ => {
            let values = bytes(input);
            if list.with(scope).try_extend_from_slice(&values).is_ok() {
                model.extend(values);
            }
        }
    }
}

/// Lends two vectors with different scopes at once, exchanges and changes them, and forgets some.
fn exchange<'l>(
    input: &mut Input<'_>,
    scopes: [&Scope<'l>; 2],
    (one, one_model): &mut Node<'l>,
    (two, two_model): &mut Node<'l>,
) {
    let (mut left, mut right) = (one.with(scopes[0]), two.with(scopes[1]));
    std::mem::swap(&mut *left, &mut *right);
    std::mem::swap(one_model, two_model);
    let values = bytes(input);
    if left.try_extend_from_slice(&values).is_ok() {
        one_model.extend(values);
    }
    right.shrink_to_fit();
    if input.below(4) == 0 {
        std::mem::forget(left);
        one_model.clear();
    }
}

/// Opens scopes of an arena whose memory comes from `host`.
fn inside<'l>(
    input: &mut Input<'_>,
    depth: usize,
    host: &'l Scope<'l>,
    reach: &[&'l Scope<'l>],
    ancestors: &[&dyn Ancestor],
    mut given: Vec<Node<'l>>,
) {
    let kind = input.below(11);
    let (size, turns) = (input.size() % 1_000, 1 + input.below(3));
    let mut nodes = |turn: usize| if turn == 0 { std::mem::take(&mut given) } else { Vec::new() };
    match kind {
        0 | 1 => {
            let Some(buffer) = low_buffer(host, size) else { return };
            let mut fixed = Fixed::new(buffer);
            for turn in 0..turns {
                let scope = fixed.scope();
                level(input, depth, &scope, reach, ancestors, nodes(turn));
            }
        }
        2 => {
            let Ok(buffer) = host.try_alloc_uninit_slice(size) else { return };
            let mut fixed = Fixed::new(buffer);
            for turn in 0..turns {
                let scope = fixed.scope();
                level(input, depth, &scope, reach, ancestors, nodes(turn));
            }
        }
        3 => {
            // Two adjacent buffers; the second one may be empty.
            let Some(buffer) = low_buffer(host, size) else { return };
            let (left, right) = buffer.split_at_mut(input.below(256).min(size));
            let (mut left, mut right) = (Fixed::new(left), Fixed::new(right));
            for turn in 0..turns {
                let (left, right) = (left.scope(), right.scope());
                let mut reach = reach.to_vec();
                reach.push(&left);
                level(input, depth, &right, &reach, ancestors, nodes(turn));
            }
        }
        4 => {
            let backing = FromScope { scope: host, is_low: input.flag() };
            let mut arena = Arena::with_chunk_size_in(size, backing);
            for turn in 0..turns {
                if let Ok(scope) = arena.try_scope() {
                    level(input, depth, &scope, reach, ancestors, nodes(turn));
                }
            }
        }
        5 => {
            let backing = FromScope { scope: host, is_low: input.flag() };
            let pool = Pool::with_chunk_size_in(size, backing);
            let (Ok(mut one), Ok(mut other)) = (pool.try_get(), pool.try_get()) else { return };
            if let (Ok(one), Ok(other)) = (one.try_scope(), other.try_scope()) {
                let mut reach = reach.to_vec();
                reach.push(&one);
                level(input, depth, &other, &reach, ancestors, nodes(0));
            }
        }
        6 => {
            // An arena that lies in the last element of a vector, buffer and all.
            let mut arenas = host.owned_vec();
            if arenas.try_push(StackArena::<200>::new()).is_err() {
                return;
            }
            for turn in 0..turns {
                let scope = arenas[0].scope();
                level(input, depth, &scope, reach, ancestors, nodes(turn));
            }
        }
        7 => {
            // A scope that is almost full, with a buffer at its low end; or a child of it.
            let Some(buffer) = low_buffer(host, size) else { return };
            let backing = FromScope { scope: host, is_low: input.flag() };
            let mut fixed = Fixed::new(buffer).or_spill(backing);
            let mut outer = fixed.scope();
            let Some(buffer) = low_buffer(&outer, input.size().min(size)) else { return };
            let free = outer.stats().capacity - outer.stats().used;
            let _ = outer.try_alloc_uninit_slice::<u8>(free.saturating_sub(input.below(20)));
            let mut fixed = Fixed::new(buffer);
            let inner = fixed.scope();
            let mut reach = reach.to_vec();
            reach.push(&inner);
            let given = nodes(0);
            match input.below(3) {
                0 => level(input, depth, &outer, &reach, ancestors, given),
                1 => level(input, depth, &outer.scope(), &reach, ancestors, given),
                _ => local::with(&mut outer, || {
                    local::scope(|child| level(input, depth, &child, &reach, ancestors, given));
                }),
            }
        }
        8 | 9 => {
            let Some(buffer) = low_buffer(host, size) else { return };
            let mut fixed = Fixed::new(buffer).or_spill(FromScope { scope: host, is_low: false });
            for turn in 0..turns {
                let mut scope = fixed.scope();
                children(input, depth, &mut scope, nodes(turn));
                ancestors.iter().for_each(|ancestor| ancestor.check());
            }
        }
        _ => {
            // A claim begins where its parent's chunks end.
            let Ok(claim) = host.try_claim() else { return };
            level(input, depth, claim.scope(), reach, ancestors, nodes(0));
        }
    }
}

/// The vectors that a transaction returns.
struct AnyNodes;

impl ForLifetime for AnyNodes {
    type Of<'n> = Vec<Node<'n>>;
}

/// Moves vectors of a scope to its children, and keeps what these return.
fn children<'l>(
    input: &mut Input<'_>,
    depth: usize,
    scope: &mut Scope<'l>,
    mut nodes: Vec<Node<'l>>,
) {
    let mut slices: Vec<(&'l mut [u8], Vec<u8>)> = Vec::new();
    for _ in 0..input.below(24) {
        let end = nodes.len() - input.below(nodes.len() + 1).min(2);
        match input.below(8) {
            0 | 1 => nodes.extend(node(input, scope)),
            2 => {
                if let Some(last) = nodes.last_mut() {
                    change(input, scope, last);
                }
            }
            3 => {
                let model = bytes(input);
                let slice = scope.try_alloc_slice_copy(&model).ok();
                slices.extend(slice.map(|slice| (slice, model)));
            }
            4 | 5 => {
                let given = nodes.split_off(end);
                let mut model = Vec::new();
                let slice = scope.keep_slice(|child| {
                    let slice;
                    (slice, model) = made_in(input, child, given);
                    slice
                });
                slices.push((slice, model));
            }
            6 => {
                let given = nodes.split_off(end);
                let kept = scope.transaction::<AnyNodes, ()>(|child| {
                    let (slice, model) = made_in(input, child, given);
                    let made = node(input, child);
                    assert!(*slice == *model, "a slice was overwritten");
                    if input.flag() { Ok(made.into_iter().collect()) } else { Err(()) }
                });
                nodes.extend(kept.into_iter().flatten());
            }
            _ if depth < DEEPEST => {
                let given = nodes.split_off(end);
                children(input, depth + 1, &mut scope.scope(), given);
            }
            _ => {}
        }
        for (slice, model) in &slices {
            assert!(**slice == **model, "a slice was overwritten");
        }
        for (list, model) in &nodes {
            assert!(list[..] == model[..], "a vector was overwritten");
        }
    }
}

/// Changes vectors of a child's parent, and makes a slice in the child between the changes.
fn made_in<'c>(
    input: &mut Input<'_>,
    child: &Scope<'c>,
    given: Vec<Node<'_>>,
) -> (&'c mut [u8], Vec<u8>) {
    // From here on with a lifetime that both the vectors and the child outlive.
    let mut given: Vec<Node<'_>> = given;
    let mut made = None;
    for turn in 0..4 {
        if turn == 2 {
            made = node(input, child);
        }
        if let Some(last) = given.last_mut() {
            change(input, child, last);
        }
    }
    for (list, model) in &given {
        assert!(list[..] == model[..], "a vector was overwritten");
    }
    let (list, model) = made.unwrap_or_default();
    (list.into_slice(), model)
}

/// Runs the operations encoded in `bytes`.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut arena = Arena::with_chunk_size(input.size());
    while !input.is_empty() {
        let scope = arena.scope();
        level(&mut input, 0, &scope, &[], &[], Vec::new());
    }
}
