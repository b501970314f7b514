//! The compiler's errors where several threads share what one of them uses at a time, or where a value
//! that stays on its thread is sent.
//!
//! For an automatic trait that a type lacks, the compiler reports each private field that lacks it. A type
//! that implements the trait under a bound that never holds gets one error, whose text is here.
#![forbid(unsafe_code)]

/// The condition of `Sync`. No type implements it.
///
/// ```compile_fail,E0277
/// static ARENA: ebbtide::Arena = ebbtide::Arena::new(); // use a `Pool`
/// ```
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is used by one thread at a time",
    label = "another thread would use it too",
    note = "move it to that thread, or take a scope from a `static` `ebbtide::Pool` on each thread",
    note = "in a future, await a value before it is allocated (`let v = f().await; s.alloc(v)`), and hold \
            `&mut Scope`, `NodeVec` or `s.grow_vec()` across `.await`, not `&Scope` or `s.vec()`"
)]
pub trait SharedByThreads {}

/// The condition of `Send`. No type implements it.
///
/// ```compile_fail,E0277
/// let arena = ebbtide::DropArena::new();
/// std::thread::spawn(move || drop(arena));
/// ```
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` stays on its thread",
    label = "it would be sent to another thread",
    note = "a `Claim` ends before an `.await`; a child that `Scope::scope` opens can be sent",
    note = "instead of a `DropArena`, a `TypedArena` can be sent, if its values can"
)]
pub trait SentToThreads {}
