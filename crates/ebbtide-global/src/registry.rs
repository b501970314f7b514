//! A list that only grows and is never freed, without a lock.
//!
//! Threads read it while others append. Nothing waits for another thread, so a `fork` at any moment leaves a list
//! that the child can use.

use core::{
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};
use std::boxed::Box;

/// A list of values that live as long as the program, in the order in which they were appended.
#[derive(Debug)]
pub(crate) struct Registry<T: 'static> {
    first: Link<T>,
}

/// Null, or a node that was leaked from a `Box`. Once it is set it never changes.
type Link<T> = AtomicPtr<Node<T>>;

#[derive(Debug)]
struct Node<T: 'static> {
    value: T,
    next: Link<T>,
}

/// The node behind a link.
fn follow<T>(link: &Link<T>) -> Option<&'static Node<T>> {
    // Acquire: pairs with the release in `append`, so that the node's contents are visible.
    let node = link.load(Ordering::Acquire);
    // SAFETY: a link is null or comes from `Box::into_raw` in `append`; nodes are never freed, and after they are linked only
    // shared references to them exist.
    unsafe { node.as_ref() }
}

impl<T> Registry<T> {
    /// An empty list.
    pub(crate) const fn new() -> Self {
        Registry { first: Link::new(ptr::null_mut()) }
    }

    /// Appends a value. Allocates.
    pub(crate) fn append(&'static self, value: T) -> &'static T {
        let node = Box::into_raw(Box::new(Node { value, next: Link::new(ptr::null_mut()) }));
        let mut link = &self.first;
        while link
            .compare_exchange(ptr::null_mut(), node, Ordering::Release, Ordering::Relaxed)
            .is_err()
        {
            if let Some(taken) = follow(link) {
                link = &taken.next;
            }
        }
        // SAFETY: the node was made above and is never freed.
        unsafe { &(*node).value }
    }

    /// The values, in the order in which they were appended.
    pub(crate) fn iter(&'static self) -> impl Iterator<Item = &'static T> {
        core::iter::successors(follow(&self.first), |node| follow(&node.next))
            .map(|node| &node.value)
    }
}
