//! Strings may be parts of the input.

use ebbtide::{
    Scope,
    deserialize::{DeserializeIn, derived::Deserializer},
};

#[derive(DeserializeIn)]
struct Name<'a>(&'a str);

fn for_the_arena<'de, 'a, D: Deserializer<'de>>(s: &Scope<'a>, from: D) -> Option<Name<'a>> {
    s.deserialize_borrowing(from).ok() //~ error: lifetime may not live long enough
}

fn copied<'de, 'a, D: Deserializer<'de>>(s: &Scope<'a>, from: D) -> Option<Name<'a>> {
    s.deserialize(from).ok()
}

fn main() {}
