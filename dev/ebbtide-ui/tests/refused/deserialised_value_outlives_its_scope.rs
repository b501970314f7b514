//! What was deserialised lies in the scope.

use ebbtide::{
    Arena,
    deserialize::{DeserializeIn, derived::Deserializer},
};

#[derive(DeserializeIn)]
struct Name<'a>(&'a str);

fn after_a_reset<'de, D: Deserializer<'de>>(arena: &mut Arena, from: D) -> usize {
    let name: Name<'_> = arena.scope().deserialize(from).ok().unwrap();
    arena.reset(); //~ error[E0499]
    name.0.len()
}

fn main() {}
