//! Programs that must compile, and that work.

use ebbtide::{AllocError, Arena, DropArena, Pool, Scope, StackArena, TypedArena};
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
fn a_default_arena_needs_no_type() {
    let mut arena = Arena::default();
    let values = DropArena::default();
    assert_eq!(*arena.scope().alloc(1) + *values.alloc(2), 3);
}

#[test]
fn the_root_of_a_pool_is_passed_as_a_scope() {
    static POOL: Pool = Pool::new();
    fn twice<'a>(s: &Scope<'a>, value: u64) -> &'a u64 {
        s.alloc(value * 2)
    }
    assert_eq!(*twice(&POOL.root(), 2) + *POOL.root().alloc(1), 5);
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

/// Names of the standard library, where everything of a crate is imported: the glob would shadow a
/// name of std's prelude, and make one of its macros ambiguous.
mod glob {
    macro_rules! types {
        ($($name:ty = $std:ty),*) => { $(const _: fn($name) -> $std = |value| value;)* };
    }

    macro_rules! traits {
        ($($name:path = $std:path),*) => {
            $(
                #[allow(drop_bounds, reason = "`Drop` is one of the names")]
                const _: () = {
                    fn _of_std<T: ?Sized + $std>() {}
                    fn _named<T: ?Sized + $name>() {
                        _of_std::<T>();
                    }
                };
            )*
        };
    }

    /// Uses every name of std's prelude, every primitive type and the macros, as std's.
    macro_rules! prelude {
        () => {
            types!(
                Box<u8> = std::boxed::Box<u8>,
                Option<u8> = std::option::Option<u8>,
                Result<u8, i8> = std::result::Result<u8, i8>,
                String = std::string::String,
                Vec<u8> = std::vec::Vec<u8>
            );
            types!(bool = std::primitive::bool, char = std::primitive::char);
            types!(f32 = std::primitive::f32, f64 = std::primitive::f64);
            types!(i8 = std::primitive::i8, i16 = std::primitive::i16, i32 = std::primitive::i32);
            types!(i64 = std::primitive::i64, i128 = std::primitive::i128);
            types!(u8 = std::primitive::u8, u16 = std::primitive::u16, u32 = std::primitive::u32);
            types!(u64 = std::primitive::u64, u128 = std::primitive::u128);
            types!(isize = std::primitive::isize, usize = std::primitive::usize);
            types!(&'static str = &'static std::primitive::str);

            traits!(
                Copy = std::marker::Copy,
                Send = std::marker::Send,
                Sized = std::marker::Sized,
                Sync = std::marker::Sync,
                Unpin = std::marker::Unpin
            );
            traits!(Drop = std::ops::Drop, Fn() = std::ops::Fn(), FnMut() = std::ops::FnMut());
            traits!(FnOnce() = std::ops::FnOnce(), AsyncFn() = std::ops::AsyncFn());
            traits!(AsyncFnMut() = std::ops::AsyncFnMut());
            traits!(AsyncFnOnce() = std::ops::AsyncFnOnce());
            traits!(
                AsMut<u8> = std::convert::AsMut<u8>,
                AsRef<u8> = std::convert::AsRef<u8>,
                From<u8> = std::convert::From<u8>,
                Into<u8> = std::convert::Into<u8>,
                TryFrom<u8> = std::convert::TryFrom<u8>,
                TryInto<u8> = std::convert::TryInto<u8>
            );
            traits!(
                Clone = std::clone::Clone,
                Default = std::default::Default,
                Eq = std::cmp::Eq,
                Ord = std::cmp::Ord,
                PartialEq = std::cmp::PartialEq,
                PartialOrd = std::cmp::PartialOrd,
                ToOwned = std::borrow::ToOwned,
                ToString = std::string::ToString
            );
            traits!(
                DoubleEndedIterator = std::iter::DoubleEndedIterator,
                ExactSizeIterator = std::iter::ExactSizeIterator,
                Extend<u8> = std::iter::Extend<u8>,
                FromIterator<u8> = std::iter::FromIterator<u8>,
                IntoIterator = std::iter::IntoIterator,
                Iterator = std::iter::Iterator
            );
            traits!(Future = std::future::Future, IntoFuture = std::future::IntoFuture);

            #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
            struct Derived;

            thread_local!(static LOCAL: u8 = const { 1 });

            #[test]
            fn a_glob_import_leaves_the_names_of_std_usable() {
                let boxed: std::boxed::Box<u8> = Box::new(1);
                let heap: std::vec::Vec<i32> = vec![1, 2, 3];
                let zeros: std::vec::Vec<u8> = vec![0; Vec::from([1, 2, 3]).len()];
                let none: std::vec::Vec<u8> = vec![];
                let text: std::string::String = format!("{heap:?} and {}", zeros.len());
                assert_eq!((text.as_str(), none.len()), ("[1, 2, 3] and 3", 0));
                assert_ne!(String::new(), text, "{}", format_args!("{boxed}"));
                assert!(matches!(Some(Ok::<_, ()>(Derived)), Some(Ok(Derived))), "{Derived:?}");
                debug_assert!(matches!(Err::<(), _>(None::<u8>), Err(None)));
                debug_assert_eq!(LOCAL.with(u8::clone), *boxed);
                debug_assert_ne!(size_of::<u16>(), align_of::<u8>());
                assert_eq!((size_of_val(&1_u16), align_of_val(&1_u8)), (2, 1));
                drop(boxed);

                let place: (&str, u32, u32, &str) = (file!(), line!(), column!(), module_path!());
                let words: (&str, &str) = (concat!("ebb", 1), stringify!(ebb));
                let included: (&str, &[u8]) = (include_str!("all.rs"), include_bytes!("all.rs"));
                let built: (&str, Option<&str>) = (env!("CARGO_PKG_NAME"), option_env!("EBB"));
                let _: bool = cfg!(unix);
                let mut page = String::new();
                std::fmt::Write::write_fmt(&mut page, format_args!("{place:?}{words:?}")).unwrap();
                use std::fmt::Write as _;
                write!(page, "{}", included.0).unwrap();
                writeln!(page, "{built:?}").unwrap();
                let _: [fn(); 4] =
                    [|| panic!(), || todo!(), || unimplemented!(), || unreachable!()];
                let _: [fn(); 4] = [|| print!(""), || println!(), || eprint!(""), || eprintln!()];
            }
        };
    }

    mod of_the_core {
        #[allow(clippy::wildcard_imports, reason = "what is tested")]
        use ebbtide::*;

        prelude!();

        #[test]
        fn a_glob_import_has_its_own_in_modules() {
            let mut arena = Arena::new();
            let s = arena.scope();
            let boxed: boxed::Box<'_, u8> = s.boxed(1);
            assert_eq!(collections::vec![in s; *boxed, 2], [1, 2]);
            assert_eq!(collections::format!(in s, "{boxed}"), "1");
        }
    }

    mod of_the_transparent_allocator {
        #[allow(clippy::wildcard_imports, unused_imports, reason = "what is tested")]
        use ebbtide_global::*;

        prelude!();
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
