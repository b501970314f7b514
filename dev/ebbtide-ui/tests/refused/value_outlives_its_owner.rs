//! What lies in the arena of an `Owned` lives as long as that is borrowed, and nothing that lives less
//! long can be put in. Nobody can keep its scope: neither the value, hidden in a type that claims to be
//! `Send`, nor another thread.

use ebbtide::{Arena, ForLifetime, Heap, Owned, Scope};

struct AnyWords;
impl ForLifetime for AnyWords {
    type Of<'a> = Vec<&'a str>;
}

type Words = Owned<AnyWords>;

struct AnyScope;
impl ForLifetime for AnyScope {
    type Of<'a> = Option<&'a Scope<'a>>;
}

fn changed_while_it_is_read(mut words: Words) {
    let read: &str = words.with(|words| words[0]);
    words.with_mut(|_, words| words.clear()); //~ error[E0502]
    println!("{read}");
    let read: &str = words.with(|words| words[0]);
    words.map::<AnyWords>(|_, words| words); //~ error[E0505]
    println!("{read}");
}

fn kept(words: &Words) -> &'static str {
    let mut kept = "";
    words.with(|words| kept = words[0]);
    kept //~ error: lifetime may not live long enough
}

fn shorter_value_put_in(words: &mut Words) {
    let text = String::from("gone before the words");
    words.with_mut(|_, words| words.push(&text)); //~ error
    words.with_mut(|_, words| {
        let text = String::from("gone before the words");
        words.push(&text); //~ error
    });
}

fn longer_value_than_its_backing<'b>(text: &'b str) -> Owned<&'static str, Heap> {
    Owned::<&'static str, _>::over(Arena::new(), move |_| text) //~ error
}

fn made_of_another_arena() -> Words {
    Words::new(|_| {
        let other = Arena::new();
        vec![other.alloc_str("ebb")] //~ error[E0515]
    })
}

fn scope_kept_by_the_value() -> Owned<AnyScope> {
    Owned::<AnyScope>::new(|s| Some(s)) //~ error
}

fn scope_kept_by_the_caller<'o>(words: &'o mut Words) -> &'o str {
    let mut kept: Option<&Scope<'o>> = None;
    words.with_mut(|s, _| kept = Some(s)); //~ error
    kept.unwrap().alloc_str("ebb")
}

fn main() {
    let mut words = made_of_another_arena();
    kept(&words);
    shorter_value_put_in(&mut words);
    scope_kept_by_the_caller(&mut words);
    changed_while_it_is_read(words);
    longer_value_than_its_backing("ebb");
    scope_kept_by_the_value();
}
