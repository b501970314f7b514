//! The error names the field's type, and says what to write instead.

use ebbtide::deserialize::DeserializeIn;

#[derive(DeserializeIn)]
struct Name<'a> {
    short: &'a str,
    long: String, //~ error[E0277]: `std::string::String` cannot be deserialised into a scope
}

#[derive(DeserializeIn)]
enum Shape {
    Named(String), //~ error[E0277]
    Both(u8, String), //~ error[E0277]
}

#[derive(DeserializeIn)]
struct Newtype(String); //~ error[E0277]

fn main() {}
