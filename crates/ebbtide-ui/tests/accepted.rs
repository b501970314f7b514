//! Programs that must compile, and that work.

use ebbtide::{AllocError, Arena, DropArena, Scope, StackArena, TypedArena};
use std::cell::Cell;
use std::future::Future;
use std::mem;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

#[test]
fn outer_references_can_be_used_inside_and_after_a_scope() {
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let kept = outer.alloc(1);
    {
        let inner = outer.scope();
        *kept += *inner.alloc(2);
    }
    *kept += *outer.alloc(4);
    assert_eq!(*kept, 7);
}

#[test]
fn values_can_be_returned_from_a_scope() {
    let mut arena = Arena::new();
    let sum: u64 = {
        let s = arena.scope();
        s.alloc_slice_fill_with(3, |i| i as u64 + 2).iter().sum()
    };
    assert_eq!(sum, 9);
}

#[test]
fn allocations_live_as_long_as_the_borrow_of_the_arena() {
    fn greeting<'a>(arena: &'a mut Arena, name: &str) -> &'a str {
        let s = arena.scope();
        s.alloc_str(name)
    }
    let mut arena = Arena::new();
    assert_eq!(greeting(&mut arena, "first"), "first");
    assert_eq!(greeting(&mut arena, "second"), "second");
}

#[test]
fn return_leaves_a_scope() {
    fn first_even(arena: &mut Arena, numbers: &[u32]) -> Option<u32> {
        let s = arena.scope();
        for number in s.alloc_slice_copy(numbers) {
            if *number % 2 == 0 {
                return Some(*number);
            }
        }
        None
    }
    let mut arena = Arena::new();
    assert_eq!(first_even(&mut arena, &[1, 3, 4, 6]), Some(4));
    assert_eq!(first_even(&mut arena, &[1]), None);
}

#[test]
fn a_question_mark_leaves_a_scope() {
    fn ones(buffer: &mut StackArena<100>, count: usize) -> Result<u64, AllocError> {
        let s = buffer.scope();
        Ok(s.try_alloc_slice_fill_copy(count, 1)?.iter().sum())
    }
    let mut buffer = StackArena::new();
    assert_eq!(ones(&mut buffer, 100_000), Err(AllocError));
    assert_eq!(ones(&mut buffer, 5), Ok(5));
}

#[test]
fn a_labelled_break_leaves_scopes() {
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let mut turns = 0;
    'turns: loop {
        let mut middle = outer.scope();
        loop {
            let inner = middle.scope();
            turns += *inner.alloc(1);
            match turns {
                1 => {}
                2 => continue 'turns,
                _ => break 'turns,
            }
        }
    }
    assert_eq!(*outer.alloc(turns), 3);
}

#[test]
fn a_scope_can_be_stored_in_a_struct() {
    struct Parser<'a, 't> {
        scope: Scope<'a>,
        text: &'t str,
    }

    impl<'a> Parser<'a, '_> {
        fn words(&mut self) -> impl Iterator<Item = &'a str> {
            self.text.split(' ').map(|word| &*self.scope.alloc_str(word))
        }
    }

    let mut arena = Arena::new();
    let words: Vec<&str> = {
        let text = String::from("two words");
        let mut parser = Parser { scope: arena.scope(), text: &text };
        parser.words().collect()
    };
    assert_eq!(words, ["two", "words"]);
}

#[test]
fn a_future_that_owns_an_arena_and_its_scope_is_send() {
    fn is_send<F: Future + Send>(future: F) -> F {
        future
    }

    let mut arena = Arena::new();
    let mut future = pin!(is_send(async move {
        let s = arena.scope();
        let sum = s.alloc(1);
        let mut first = true;
        // Pending once, so that the scope is held across an await.
        std::future::poll_fn(
            |_| if mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) },
        )
        .await;
        *sum += *s.alloc(2);
        *sum
    }));
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(future.as_mut().poll(&mut context), Poll::Pending);
    assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(3));
}

#[test]
fn a_scope_can_move_to_a_scoped_thread_and_return_its_values() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let made_here = s.alloc(1);
    let made_there = thread::scope(|threads| {
        let thread = threads.spawn(move || s.alloc(*made_here + 1));
        thread.join().expect("the thread does not panic")
    });
    assert_eq!(*made_there, 2);
}

#[test]
fn a_scope_can_be_borrowed_by_a_scoped_thread_and_used_again() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    thread::scope(|threads| {
        threads.spawn(|| {
            let child = s.scope();
            assert_eq!(*child.alloc(1), 1);
        });
    });
    assert_eq!(*s.alloc(2), 2);
}

#[test]
#[expect(
    clippy::forget_non_drop,
    reason = "that a scope has nothing to drop is what makes it harmless"
)]
fn forgetting_a_scope_a_box_or_an_arena_is_harmless() {
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let kept = outer.alloc(1);
    mem::forget(outer.scope());
    mem::forget(outer.boxed(String::from("its heap memory leaks, nothing else")));
    assert_eq!(*kept + *outer.alloc(2), 3);
    mem::forget(outer);
    assert_eq!(*arena.scope().alloc(3), 3);
    mem::forget(arena);
}

#[test]
fn a_scope_works_with_a_function_that_has_one_lifetime() {
    fn twice<'p>(s: &'p Scope<'p>, value: u64) -> &'p u64 {
        s.alloc(value * 2)
    }
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let kept = outer.alloc(1);
    *kept += *twice(&outer, 2);
    *kept += *twice(&outer.scope(), 3);
    assert_eq!(*kept, 11);
}

#[test]
fn a_scope_is_covariant() {
    fn shorten<'short, 'long: 'short>(s: Scope<'long>) -> Scope<'short> {
        s
    }
    fn shorten_behind_a_reference<'s, 'short, 'long: 'short>(
        s: &'s Scope<'long>,
    ) -> &'s Scope<'short> {
        s
    }
    let mut arena = Arena::new();
    let s = shorten(arena.scope());
    assert_eq!(*shorten_behind_a_reference(&s).alloc(1), 1);
}

#[test]
fn scopes_of_two_arenas_can_be_nested_and_mixed() {
    let mut first = Arena::new();
    let mut second = Arena::new();
    let mut of_first = first.scope();
    let of_second = second.scope();
    let kept = of_second.alloc(1);
    {
        let inner = of_first.scope();
        *kept += *inner.alloc(2);
    }
    assert_eq!(*kept + *of_first.alloc(4) + *of_second.alloc(8), 15);
}

#[test]
fn values_of_a_typed_arena_may_refer_to_each_other_in_cycles() {
    struct Node<'a> {
        name: String,
        next: Cell<Option<&'a Node<'a>>>,
    }
    let arena = TypedArena::new();
    let names = ["ebb", "flow", "slack"];
    let nodes = names.map(|name| Node { name: name.into(), next: Cell::new(None) });
    let nodes: &[Node] = arena.alloc_extend(nodes);
    for (i, node) in nodes.iter().enumerate() {
        node.next.set(nodes.get((i + 1) % 3));
    }
    let back = (0..3).fold(&nodes[0], |node, _| node.next.get().unwrap_or(node));
    assert_eq!(back.name, "ebb");
}

/// Macros of the standard library, where everything of ebbtide is imported.
mod glob {
    #[allow(clippy::wildcard_imports, reason = "what is tested")]
    use ebbtide::*;

    #[test]
    fn a_glob_import_leaves_the_macros_of_std_usable() {
        let heap: std::vec::Vec<i32> = vec![1, 2, 3];
        let zeros: std::vec::Vec<u8> = vec![0; heap.len()];
        let none: std::vec::Vec<u8> = vec![];
        let text: std::string::String = format!("{heap:?} and {}", zeros.len());
        assert_eq!((text.as_str(), none.len()), ("[1, 2, 3] and 3", 0));

        let mut arena = Arena::new();
        let s = arena.scope();
        assert_eq!(collections::vec![in s; 1, 2, 3], *heap);
        assert_eq!(collections::format!(in s, "{heap:?}"), "[1, 2, 3]");
    }
}

#[test]
fn an_arena_of_values_may_be_lent_and_moved() {
    fn add<'v>(arena: &DropArena<'v>, text: &'v str) {
        arena.alloc(vec![text]);
    }
    fn parse<'t>(arena: &'t TypedArena<Vec<&'t str>>, text: &'t str) -> &'t mut Vec<&'t str> {
        arena.alloc(text.split(' ').collect())
    }
    let text = String::from("ebb and flow");
    let arena = DropArena::new();
    add(&arena, &text);
    let moved = arena;
    add(&moved, &text);
    let words = TypedArena::new();
    assert_eq!(parse(&words, &text).len(), 3);
}
