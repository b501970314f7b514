//! A stack in a scope. A parser collects the children of a node on it and then moves them into a
//! slice of the exact length. Inner nodes are finished before outer ones, so one stack is enough.

use ebbtide::Scope;

pub(crate) struct Stack<'a, T> {
    scope: &'a Scope<'a>,
    slots: &'a mut [T],
    len: usize,
}

const FIRST_SLOTS: usize = 64;

impl<'a, T: Copy> Stack<'a, T> {
    /// An empty stack. Does not allocate.
    pub(crate) fn new(scope: &'a Scope<'a>) -> Self {
        Self { scope, slots: &mut [], len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, value: T) {
        if self.len == self.slots.len() {
            let roomy = self.scope.alloc_slice_fill_copy((self.len * 2).max(FIRST_SLOTS), value);
            roomy[..self.len].copy_from_slice(self.slots);
            self.slots = roomy;
        }
        self.slots[self.len] = value;
        self.len += 1;
    }

    /// Moves everything above the first `len` values into a slice in `scope`.
    pub(crate) fn pop_to<'k>(&mut self, len: usize, scope: &Scope<'k>) -> &'k [T]
    where
        T: 'k,
    {
        let popped = scope.alloc_slice_copy(&self.slots[len..self.len]);
        self.len = len;
        popped
    }
}
