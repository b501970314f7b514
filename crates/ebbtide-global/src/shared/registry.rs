//! A lock-free list that only grows and is never freed.
//!
//! Threads read it while others append. No thread waits for another, so the child of a `fork` can
//! use the list, no matter what other threads were doing at the time of the fork.
//!
//! `figures` has one for counters and one for labels.
//!
//! The model in `tests/loom_registry.rs` covers every interleaving of these operations.

use crate::shared::atomic::{AtomicPtr, Ordering};
use core::ptr;
use std::boxed::Box;

/// A list of values that live as long as the program, in the order in which they were appended.
#[derive(Debug)]
pub(crate) struct Registry<T: 'static> {
    first: Link<T>,
}

/// Null or a node leaked from a `Box`. A link that is not null never changes.
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
    // SAFETY: a link is null or comes from `Box::into_raw` in `append`; nodes are never freed, and
    // after they are linked only shared references to them exist.
    unsafe { node.as_ref() }
}

impl<T> Registry<T> {
    // An empty list.
    new_atomic!(Registry { first: Link::new(ptr::null_mut()) });

    /// Appends a value. Allocates.
    pub(crate) fn append(&'static self, value: T) -> &'static T {
        self.find_or_append(|_| false, value)
    }

    /// Returns the first value for which `wanted` is true. If there is none, appends `value`; if
    /// several threads do so at the same time, only one value is appended. Always allocates.
    pub(crate) fn find_or_append(
        &'static self,
        wanted: impl Fn(&T) -> bool,
        value: T,
    ) -> &'static T {
        let node = Box::into_raw(Box::new(Node { value, next: Link::new(ptr::null_mut()) }));
        let mut link = &self.first;
        loop {
            // Release: a thread that follows the link sees the node's contents. Relaxed on failure:
            // `follow` loads the link again.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if link.compare_exchange(ptr::null_mut(), node, release, relaxed).is_ok() {
                // SAFETY: the node was made above, and is never freed now that it is linked.
                return unsafe { &(*node).value };
            }
            let Some(taken) = follow(link) else { continue };
            if wanted(&taken.value) {
                // SAFETY: the node came from a `Box` above and was not linked, so no other thread
                // has a pointer to it.
                drop(unsafe { Box::from_raw(node) });
                return &taken.value;
            }
            link = &taken.next;
        }
    }

    /// The values, in the order in which they were appended.
    pub(crate) fn iter(&'static self) -> impl Iterator<Item = &'static T> {
        core::iter::successors(follow(&self.first), |node| follow(&node.next))
            .map(|node| &node.value)
    }
}
