//! Every attribute of serde has an effect, belongs to `Serialize`, or is an error that names it.

use ebbtide::deserialize::DeserializeIn;

#[derive(DeserializeIn)]
struct Flatten<'a> {
    #[serde(flatten)] //~ does not support `#[serde(flatten)]`
    rest: &'a str,
}

#[derive(DeserializeIn)]
#[serde(tag = "kind")] //~ does not support `#[serde(tag)]`
enum Tagged {
    One,
}

#[derive(DeserializeIn)]
#[serde(untagged)] //~ does not support `#[serde(untagged)]`
enum Untagged {
    One,
}

#[derive(DeserializeIn)]
struct Borrow<'a> {
    #[serde(borrow)] //~ does not support `#[serde(borrow)]`: strings are borrowed by `Scope::deserialize_borrowing`
    text: &'a str,
}

#[derive(DeserializeIn)]
#[serde(bound = "T: Copy")] //~ does not support `#[serde(bound)]`
struct Bound<T>(T);

#[derive(DeserializeIn)]
struct Misspelled {
    #[serde(renamed = "x")] //~ does not know this attribute
    number: u8,
}

#[derive(DeserializeIn)]
#[serde(skip)] //~ `#[serde(skip)]` has no meaning on a struct
struct Misplaced {
    number: u8,
}

#[derive(DeserializeIn)]
struct Twice {
    #[serde(rename = "x")]
    #[serde(rename = "y")] //~ this is given twice
    number: u8,
}

#[derive(DeserializeIn)]
#[serde(rename_all = "dromedaryCase")] //~ expected one of "lowercase", "UPPERCASE"
struct NoRule {
    number: u8,
}

#[derive(DeserializeIn)] //~ the name "one" is given twice
struct SameName {
    one: u8,
    #[serde(alias = "one")]
    two: u8,
}

#[derive(DeserializeIn)]
#[serde(transparent)]
struct Pair { //~ needs exactly one field
    one: u8,
    two: u8,
}

#[derive(DeserializeIn)]
#[serde(default, from = "u8")] //~ only one of `transparent`, `from`, `try_from` and `default`
struct Both {
    one: u8,
}

#[derive(DeserializeIn)]
struct Three<'a, 'b, 'c>(&'a str, &'b str, &'c str); //~ at most two lifetimes

#[derive(DeserializeIn)]
union Bits { //~ cannot be derived for a union
    one: u8,
}

#[derive(DeserializeIn)]
struct Only(#[serde(skip)] u8); //~ on an only field

#[derive(DeserializeIn)]
struct OfSerialize {
    #[serde(into = "u8")] //~ `#[serde(into)]` has no meaning on a field
    one: u8,
}

#[derive(DeserializeIn)]
struct WithoutValue {
    #[serde(getter)] //~ expected `=`
    one: u8,
}

#[derive(DeserializeIn)]
struct SkippedTwice {
    #[serde(skip, skip)] //~ this is given twice
    one: u8,
}

#[derive(DeserializeIn)]
#[serde(default)]
struct NoFields; //~ has no meaning on a struct without fields

#[derive(DeserializeIn)]
struct DefaultFirst(#[serde(default)] u8, u8); //~ needs a default too

#[derive(DeserializeIn)]
#[serde(transparent)]
struct DefaultOfAll { //~ has no meaning in a transparent struct
    #[serde(default)]
    one: u8,
}

fn main() {}
