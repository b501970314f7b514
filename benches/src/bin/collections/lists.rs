//! A common interface of the vectors, implemented by each with its fastest methods.

use ebbtide::{
    GrowVec, Scope,
    collections::{NodeVec, Vec as ScopeVec},
};
use std::hint::black_box;

/// Methods that add elements.
pub trait Grows<T> {
    fn push(&mut self, value: T);
    fn clone_from(&mut self, values: &[T]);
    fn copy_from(&mut self, values: &[T]);
    fn extend(&mut self, values: impl Iterator<Item = T>);
    fn resize(&mut self, len: usize, value: T);
    fn insert(&mut self, index: usize, value: T);
    fn slice(&mut self) -> &mut [T];
}

/// Methods that remove or move elements, or create another vector.
pub trait List<T>: Grows<T> {
    fn pop(&mut self) -> Option<T>;
    fn remove(&mut self, index: usize) -> T;
    fn swap_remove(&mut self, index: usize) -> T;
    fn retain(&mut self, keep: impl FnMut(&mut T) -> bool);
    fn dedup(&mut self);
    /// Removes the first half; returns the number of removed elements.
    fn drain_front(&mut self) -> usize;
    /// Replaces the middle half by the items of an iterator.
    fn splice_middle(&mut self, values: impl Iterator<Item = T>);
    /// Splits the vector in two, and returns the lengths of both.
    fn split(&mut self) -> [usize; 2];
    fn duplicate(&self) -> usize;
    /// Removes the elements by value; returns how many there were.
    fn empty(self) -> usize;
}

macro_rules! grows {
    ([$($parameters:tt)*] $list:ty, $clone:ident, $copy:ident) => {
        impl<$($parameters)* T: Copy + PartialEq> Grows<T> for $list {
            #[inline(always)]
            fn push(&mut self, value: T) {
                self.push(value);
            }
            #[inline(always)]
            fn clone_from(&mut self, values: &[T]) {
                self.$clone(values);
            }
            #[inline(always)]
            fn copy_from(&mut self, values: &[T]) {
                self.$copy(values);
            }
            #[inline(always)]
            fn extend(&mut self, values: impl Iterator<Item = T>) {
                Extend::extend(self, values);
            }
            #[inline(always)]
            fn resize(&mut self, len: usize, value: T) {
                self.resize(len, value);
            }
            #[inline(always)]
            fn insert(&mut self, index: usize, value: T) {
                self.insert(index, value);
            }
            #[inline(always)]
            fn slice(&mut self) -> &mut [T] {
                self
            }
        }
    };
}

grows!([] Vec<T>, extend_from_slice, extend_from_slice);
grows!(['s, 'a,] ScopeVec<'s, 'a, T>, extend_from_slice, extend_from_slice_copy);
grows!(['s, 'a,] GrowVec<'s, 'a, T>, extend_from_slice, extend_from_slice_copy);
grows!(['b,] bumpalo::collections::Vec<'b, T>, extend_from_slice, extend_from_slice_copy);
grows!(['b,] bump_scope::BumpVec<T, &'b bump_scope::Bump>, extend_from_slice_clone, extend_from_slice_copy);
grows!(['b,] bump_scope::MutBumpVec<T, &'b mut bump_scope::Bump>, extend_from_slice_clone, extend_from_slice_copy);

/// A `NodeVec`, and the scope that is passed to its methods, or with which it is lent.
pub struct Node<'s, 'a, T> {
    pub vec: NodeVec<'a, T>,
    pub scope: &'s Scope<'a>,
}

impl<T: Copy> Grows<T> for Node<'_, '_, T> {
    #[inline(always)]
    fn push(&mut self, value: T) {
        self.vec.push(self.scope, value);
    }
    #[inline(always)]
    fn clone_from(&mut self, values: &[T]) {
        self.vec.with(self.scope).extend_from_slice(values);
    }
    #[inline(always)]
    fn copy_from(&mut self, values: &[T]) {
        self.vec.with(self.scope).extend_from_slice_copy(values);
    }
    #[inline(always)]
    fn extend(&mut self, values: impl Iterator<Item = T>) {
        self.vec.extend(self.scope, values);
    }
    #[inline(always)]
    fn resize(&mut self, len: usize, value: T) {
        self.vec.with(self.scope).resize(len, value);
    }
    #[inline(always)]
    fn insert(&mut self, index: usize, value: T) {
        self.vec.with(self.scope).insert(index, value);
    }
    #[inline(always)]
    fn slice(&mut self) -> &mut [T] {
        &mut self.vec
    }
}

macro_rules! list {
    ([$($parameters:tt)*] $list:ty, $retain:ident) => {
        impl<$($parameters)* T: Copy + PartialEq> List<T> for $list {
            #[inline(always)]
            fn pop(&mut self) -> Option<T> {
                self.pop()
            }
            #[inline(always)]
            fn remove(&mut self, index: usize) -> T {
                self.remove(index)
            }
            #[inline(always)]
            fn swap_remove(&mut self, index: usize) -> T {
                self.swap_remove(index)
            }
            #[inline(always)]
            fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
                self.$retain(|value| keep(value));
            }
            #[inline(always)]
            fn dedup(&mut self) {
                self.dedup();
            }
            #[inline(always)]
            fn drain_front(&mut self) -> usize {
                self.drain(..self.len() / 2).fold(0, |count, value| {
                    black_box(value);
                    count + 1
                })
            }
            #[inline(always)]
            fn splice_middle(&mut self, values: impl Iterator<Item = T>) {
                let quarter = self.len() / 4;
                drop(self.splice(quarter..3 * quarter, values));
            }
            #[inline(always)]
            fn split(&mut self) -> [usize; 2] {
                let at = self.len() / 2;
                let other = split_off!(self, at, $retain);
                [black_box(&mut *self).len(), black_box(other).len()]
            }
            #[inline(always)]
            fn duplicate(&self) -> usize {
                black_box(&mut self.clone()).len()
            }
            #[inline(always)]
            fn empty(self) -> usize {
                self.into_iter().fold(0, |count, value| {
                    black_box(value);
                    count + 1
                })
            }
        }
    };
}

/// bump-scope, whose `retain` gives out exclusive references, splits off ranges.
macro_rules! split_off {
    ($list:ident, $at:ident, retain) => {
        $list.split_off($at..)
    };
    ($list:ident, $at:ident, retain_mut) => {
        $list.split_off($at)
    };
}

list!([] Vec<T>, retain_mut);
list!(['s, 'a,] ScopeVec<'s, 'a, T>, retain_mut);
list!(['b,] bumpalo::collections::Vec<'b, T>, retain_mut);
list!(['b,] bump_scope::BumpVec<T, &'b bump_scope::Bump>, retain);
