//! What lies in the arena of an `Owned` lives as long as that is borrowed, and nothing that lives less
//! long can be put in.

use ebbtide::{Arena, ForLifetime, Owned};

struct AnyWords;
impl ForLifetime for AnyWords {
    type Of<'a> = Vec<&'a str>;
}

type Words = Owned<AnyWords>;

fn changed_while_it_is_read(mut words: Words) {
    let read: &str = words.with(|words| words[0]);
    words.with_mut(|words, _| words.clear()); //~ error[E0502]
    println!("{read}");
    let read: &str = words.with(|words| words[0]);
    words.map::<AnyWords>(|words, _| words); //~ error[E0505]
    println!("{read}");
}

fn kept(words: &Words) -> &'static str {
    let mut kept = "";
    words.with(|words| kept = words[0]);
    kept //~ error: lifetime may not live long enough
}

fn shorter_value_put_in(words: &mut Words) {
    let text = String::from("gone before the words");
    words.with_mut(|words, _| words.push(&text)); //~ error
    words.with_mut(|words, _| {
        let text = String::from("gone before the words");
        words.push(&text); //~ error
    });
}

fn made_of_another_arena() -> Words {
    Words::new(|_| {
        let other = Arena::new();
        vec![other.alloc_str("ebb")] //~ error[E0515]
    })
}

fn main() {
    let mut words = made_of_another_arena();
    kept(&words);
    shorter_value_put_in(&mut words);
    changed_while_it_is_read(words);
}
