//! A list that only grows and is never freed, without a lock.
//!
//! Threads read it while others append. Nothing waits for another thread, so a `fork` at any moment
//! leaves a list that the child can use.
//!
//! `tests/loom_registry.rs` tries every interleaving of what is here.

use core::ptr;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicPtr, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, Ordering};
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
    // SAFETY: a link is null or comes from `Box::into_raw` in `append`; nodes are never freed, and
    // after they are linked only shared references to them exist.
    unsafe { node.as_ref() }
}

impl<T> Registry<T> {
    /// An empty list.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Registry { first: Link::new(ptr::null_mut()) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Registry { first: Link::new(ptr::null_mut()) }
    }

    /// Appends a value. Allocates.
    pub(crate) fn append(&'static self, value: T) -> &'static T {
        self.find_or_append(|_| false, value)
    }

    /// The first value that is `wanted`. If there is none, this one is appended; threads that do so
    /// at the same time append only one. Allocates in any case.
    pub(crate) fn find_or_append(
        &'static self,
        wanted: impl Fn(&T) -> bool,
        value: T,
    ) -> &'static T {
        let node = Box::into_raw(Box::new(Node { value, next: Link::new(ptr::null_mut()) }));
        let mut link = &self.first;
        loop {
            // Release: whoever follows the link sees the node's contents.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if link.compare_exchange(ptr::null_mut(), node, release, relaxed).is_ok() {
                // SAFETY: the node was made above, and is never freed now that it is linked.
                return unsafe { &(*node).value };
            }
            let Some(taken) = follow(link) else { continue };
            if wanted(&taken.value) {
                // SAFETY: the node came from a `Box` above and was not linked, so nobody else knows
                // of it.
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
