//! Claim: a type that derives `DeserializeIn` accepts and refuses the same inputs as its twin of
//! `String`, `Vec` and `Box` that derives serde's `Deserialize`, with equal values and equal messages.
//!
//! The file is long because each type is defined twice.
#![cfg(all(feature = "derive", feature = "std"))]

use crate::common::{extent, properties};
use ebbtide::{
    Arena, Fixed,
    boxed::Box,
    collections::{NodeVec, String as ScopeString, Vec as ScopeVec},
    deserialize::DeserializeIn,
};
use proptest::{prelude::*, sample::select};
use serde::{
    Deserialize,
    de::{
        Deserializer, IntoDeserializer,
        value::{Error, MapDeserializer, SeqDeserializer},
    },
};
use std::{fmt, marker::PhantomData, num::NonZeroU8};

/// Defines each type twice: in `ours` with references, and in `theirs` with serde's own derive.
macro_rules! twins {
    ($($(#[$attribute:meta])* $kind:ident $name:ident $ours:tt or $theirs:tt)*) => {
        mod ours {
            use super::*;

            $(define! { #[derive(Debug, DeserializeIn)] $(#[$attribute])* $kind $name $ours })*
            whole! { DeserializeIn }
        }

        mod theirs {
            use super::*;
            use std::{boxed::Box, string::String, vec::Vec};

            $(define! { #[derive(Debug, Deserialize)] $(#[$attribute])* $kind $name $theirs })*
            whole! { Deserialize }
        }
    };
}

macro_rules! define {
    ($(#[$attribute:meta])* $kind:ident $name:ident [$($rest:tt)*]) => {
        #[allow(dead_code, reason = "only `Debug` reads the fields")]
        $(#[$attribute])*
        pub(super) $kind $name $($rest)*
    };
}

/// What the attributes name, and the type that is the same in both.
macro_rules! whole {
    ($derive:ident) => {
        #[allow(dead_code, reason = "only `Debug` reads the fields")]
        #[derive(Debug, $derive)]
        #[serde(default = "whole", rename_all(deserialize = "SCREAMING-KEBAB-CASE"))]
        pub(super) struct Whole {
            one_two: u32,
            #[serde(default)]
            three: u32,
            #[serde(skip)]
            four: u32,
        }

        fn whole() -> Whole {
            Whole { one_two: 12, three: 3, four: 4 }
        }

        impl TryFrom<i32> for Positive {
            type Error = &'static str;

            fn try_from(number: i32) -> Result<Self, Self::Error> {
                number.try_into().map(|number| Positive { number }).map_err(|_| "it is negative")
            }
        }

        impl From<u8> for FromU8 {
            fn from(number: u8) -> Self {
                FromU8 { number: number.into() }
            }
        }
    };
}

fn seven() -> u32 {
    7
}

fn doubled<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    u32::deserialize(from).map(|number| number.wrapping_mul(2))
}

twins! {
    struct Plain
        [<'a> { text: &'a str, number: u8, numbers: &'a [i16], inner: Option<&'a Self>, pair: (bool, char) }]
        or [{ text: String, number: u8, numbers: Vec<i16>, inner: Option<Box<Self>>, pair: (bool, char) }]
    #[serde(rename = "other", rename_all = "camelCase", deny_unknown_fields)]
    struct Strict
        [<'a> {
            first_name: &'a mut str,
            #[serde(rename = "n", alias = "number", alias = "No.")]
            value: f64,
            #[serde(default)]
            by_default: NodeVec<'a, u32>,
            #[serde(default = "seven")]
            seven: u32,
            #[serde(skip)]
            skipped: u32,
            #[serde(skip_deserializing, default = "seven")]
            also_skipped: u32,
            #[serde(deserialize_with = "doubled")]
            doubled: u32,
            r#type: [NonZeroU8; 2],
        }]
        or [{
            first_name: String,
            #[serde(rename = "n", alias = "number", alias = "No.")]
            value: f64,
            #[serde(default)]
            by_default: Vec<u32>,
            #[serde(default = "seven")]
            seven: u32,
            #[serde(skip)]
            skipped: u32,
            #[serde(skip_deserializing, default = "seven")]
            also_skipped: u32,
            #[serde(deserialize_with = "doubled")]
            doubled: u32,
            r#type: [NonZeroU8; 2],
        }]
    struct Unit [;] or [;]
    struct Newtype [<'a>(Option<&'a str>);] or [(Option<String>);]
    struct Tuple
        [<'a>(&'a str, #[serde(skip)] u8, #[serde(default)] u16);]
        or [(String, #[serde(skip)] u8, #[serde(default)] u16);]
    struct Named [{}] or [{}]
    struct Parentheses [();] or [();]
    #[serde(deny_unknown_fields)]
    struct Skipped [{ #[serde(skip)] number: u32 }] or [{ #[serde(skip)] number: u32 }]
    /// Named like what a name becomes that is not UTF-8.
    #[serde(deny_unknown_fields)]
    struct Replaced
        [{ #[serde(rename = "\u{FFFD}", default)] number: u32 }]
        or [{ #[serde(rename = "\u{FFFD}", default)] number: u32 }]
    enum Never [{}] or [{}]
    enum Hidden [{ #[serde(skip)] One }] or [{ #[serde(skip)] One }]
    #[serde(transparent)]
    struct Transparent
        [<'a> { text: Option<&'a str>, #[serde(skip)] of: PhantomData<u8> }]
        or [{ text: Option<String>, #[serde(skip)] of: PhantomData<u8> }]
    #[serde(try_from = "i32")]
    struct Positive [{ number: u32 }] or [{ number: u32 }]
    #[serde(from = "u8")]
    struct FromU8 [{ number: u32 }] or [{ number: u32 }]
    #[serde(expecting = "what was expected")]
    struct Expecting [{ number: u32 }] or [{ number: u32 }]
    #[serde(rename_all = "kebab-case", rename_all_fields = "UPPERCASE")]
    enum Choice
        [<'a> {
            UnitVariant,
            New(Box<'a, [Choice<'a>]>),
            #[serde(rename = "two", alias = "2")]
            Pair(&'a str, Box<'a, u8>),
            Fields { name: &'a str, more: Option<u8> },
            #[serde(rename_all = "PascalCase")]
            OwnRule { first_name: &'a str },
            #[serde(skip)]
            Skipped(u64),
            Nothing {},
            Empty(),
        }]
        or [{
            UnitVariant,
            New(Vec<Choice>),
            #[serde(rename = "two", alias = "2")]
            Pair(String, Box<u8>),
            Fields { name: String, more: Option<u8> },
            #[serde(rename_all = "PascalCase")]
            OwnRule { first_name: String },
            #[serde(skip)]
            Skipped(u64),
            Nothing {},
            Empty(),
        }]
}

/// A JSON text as a tree. An object may have a key twice.
#[derive(Clone, Debug)]
enum Json {
    Leaf(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = |index| if index == 0 { "" } else { ", " };
        match self {
            Json::Leaf(text) => f.write_str(text),
            Json::Array(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", between(index))?;
                }
                f.write_str("]")
            }
            Json::Object(entries) => {
                f.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key:?}: {value}", between(index))?;
                }
                f.write_str("}")
            }
        }
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Array(list) => {
                Json::Array(list.into_iter().map(Json::from).collect())
            }
            serde_json::Value::Object(map) => {
                Json::Object(map.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
            leaf => Json::Leaf(leaf.to_string()),
        }
    }
}

/// Names of fields and variants, in every spelling that occurs, and some that do not.
const NAMES: &[&str] = &[
    "text",
    "number",
    "numbers",
    "inner",
    "pair",
    "firstName",
    "first_name",
    "n",
    "No.",
    "value",
    "byDefault",
    "seven",
    "skipped",
    "alsoSkipped",
    "doubled",
    "type",
    "ONE-TWO",
    "THREE",
    "FOUR",
    "unit-variant",
    "new",
    "two",
    "2",
    "Pair",
    "fields",
    "NAME",
    "MORE",
    "own-rule",
    "FirstName",
    "FIRST_NAME",
    "nothing",
    "empty",
    "",
    "caf\u{e9}",
];

const LEAVES: &[&str] = &[
    "null",
    "true",
    "0",
    "1",
    "7",
    "-1",
    "255",
    "256",
    "70000",
    "1.5",
    "1e400",
    "-0.0",
    "\"a\"",
    "\"ab\"",
    "\"\\n\"",
    "\"unit-variant\"",
    "\"\\ud800\"",
    "\"new\"",
    "x",
];

/// An input that the type of this name accepts.
const SAMPLES: &[&str] = &[
    r#"{"text": "a\nb", "number": 7, "numbers": [-1, 2], "inner": {"text": "", "number": 0,
        "numbers": [], "inner": null, "pair": [false, "y"]}, "pair": [true, "x"]}"#,
    r#"["a", 7, [1], null, [true, "x"]]"#,
    r#"{"firstName": "ebb", "n": 1.5, "byDefault": [1, 2], "seven": 8, "doubled": 4, "type": [1, 2]}"#,
    r#"["ebb", 1.5, [1, 2], 8, 4, [1, 2]]"#,
    r#"{"ONE-TWO": 1, "THREE": 2, "unknown": {"deep": [[]]}}"#,
    "null",
    r#""ebb""#,
    r#"["ebb", 2]"#,
    "{}",
    "12",
    r#"{"number": 1}"#,
    r#""unit-variant""#,
    r#"{"new": [{"two": ["ebb", 1]}, {"fields": {"NAME": "flow", "MORE": 2}}, "unit-variant"]}"#,
    r#"{"own-rule": {"FirstName": "ebb"}}"#,
    r#"{"nothing": {}}"#,
    r#"{"empty": []}"#,
];

fn trees() -> impl Strategy<Value = Json> {
    let leaf = select(LEAVES).prop_map(|text| Json::Leaf(text.to_owned()));
    leaf.prop_recursive(3, 12, 4, |inner| {
        let entries =
            prop::collection::vec((select(NAMES).prop_map(str::to_owned), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Json::Array),
            entries.prop_map(Json::Object),
        ]
    })
}

#[derive(Clone, Copy, Debug)]
enum Edit {
    Replace,
    Remove,
    Repeat,
    Rename,
    Insert,
}

/// Edits a node, which the path chooses.
fn edit(json: &mut Json, path: &[usize], how: Edit, tree: &Json, name: &str) {
    let len = match json {
        Json::Leaf(_) => 0,
        Json::Array(elements) => elements.len(),
        Json::Object(entries) => entries.len(),
    };
    let Some((at, deeper)) = path.split_first().filter(|_| len > 0) else {
        match (json, how) {
            (Json::Array(elements), Edit::Insert) => elements.push(tree.clone()),
            (Json::Object(entries), Edit::Insert) => entries.push((name.to_owned(), tree.clone())),
            (json, _) => *json = tree.clone(),
        }
        return;
    };
    let at = at % len;
    match (json, how, deeper) {
        (Json::Array(elements), Edit::Remove, []) => drop(elements.remove(at)),
        (Json::Object(entries), Edit::Remove, []) => drop(entries.remove(at)),
        (Json::Array(elements), Edit::Repeat, []) => elements.push(elements[at].clone()),
        (Json::Object(entries), Edit::Repeat, []) => entries.push(entries[at].clone()),
        (Json::Object(entries), Edit::Rename, []) => name.clone_into(&mut entries[at].0),
        (Json::Array(elements), ..) => edit(&mut elements[at], deeper, how, tree, name),
        (Json::Object(entries), ..) => edit(&mut entries[at].1, deeper, how, tree, name),
        (Json::Leaf(_), ..) => unreachable!("a leaf has no children"),
    }
}

fn edited() -> impl Strategy<Value = Json> {
    const EDITS: &[Edit] = &[Edit::Replace, Edit::Remove, Edit::Repeat, Edit::Rename, Edit::Insert];
    let path = prop::collection::vec(0..10usize, 0..5);
    let edits = prop::collection::vec((path, select(EDITS), trees(), select(NAMES)), 0..3);
    (select(SAMPLES), edits).prop_map(|(sample, edits)| {
        let mut json = Json::from(serde_json::from_str::<serde_json::Value>(sample).unwrap());
        for (path, how, tree, name) in edits {
            edit(&mut json, &path, how, &tree, name);
        }
        json
    })
}

/// What came of an input: the value, or the error.
fn outcome<T: fmt::Debug, E: fmt::Display>(result: Result<T, E>) -> Result<String, String> {
    result.map(|value| format!("{value:?}")).map_err(|error| error.to_string())
}

/// Calls `check!(Ours, Theirs)` for each pair of types.
macro_rules! each_pair {
    ($check:ident) => {
        $check!(ours::Plain<'_>, theirs::Plain);
        $check!(ours::Strict<'_>, theirs::Strict);
        $check!(ours::Whole, theirs::Whole);
        $check!(ours::Unit, theirs::Unit);
        $check!(ours::Newtype<'_>, theirs::Newtype);
        $check!(ours::Tuple<'_>, theirs::Tuple);
        $check!(ours::Named, theirs::Named);
        $check!(ours::Parentheses, theirs::Parentheses);
        $check!(ours::Skipped, theirs::Skipped);
        $check!(ours::Replaced, theirs::Replaced);
        $check!(ours::Never, theirs::Never);
        $check!(ours::Hidden, theirs::Hidden);
        $check!(ours::Transparent<'_>, theirs::Transparent);
        $check!(ours::Positive, theirs::Positive);
        $check!(ours::FromU8, theirs::FromU8);
        $check!(ours::Expecting, theirs::Expecting);
        $check!(ours::Choice<'_>, theirs::Choice);
    };
}

/// Compares every pair of types on a text. Returns how many accept it.
fn compare(text: &str) -> usize {
    let mut accepted = 0;
    let mut arena = Arena::new();
    macro_rules! check {
        ($ours:ty, $theirs:ty) => {
            let theirs = outcome(serde_json::from_str::<$theirs>(text));
            accepted += usize::from(theirs.is_ok());
            let s = arena.scope();
            let mut from = serde_json::Deserializer::from_str(text);
            let ours = s.deserialize::<$ours, _>(&mut from);
            let ours = outcome(ours.and_then(|value| from.end().map(|()| value)));
            assert_eq!(ours, theirs, "{} of {text}", stringify!($theirs));
            let mut from = serde_json::Deserializer::from_str(text);
            let borrowing = s.deserialize_borrowing::<$ours, _>(&mut from);
            let borrowing = outcome(borrowing.and_then(|value| from.end().map(|()| value)));
            assert_eq!(borrowing, theirs, "{} of {text}, borrowing", stringify!($theirs));
        };
    }
    each_pair!(check);
    accepted
}

#[test]
fn every_sample_is_accepted() {
    for sample in SAMPLES {
        assert!(compare(sample) > 0, "{sample}");
    }
}

proptest! {
    #![proptest_config(properties(256))]

    #[test]
    fn edited_samples_have_the_same_outcome(json in edited()) {
        compare(&json.to_string());
    }

    #[test]
    fn any_text_has_the_same_outcome(json in trees(), end in any::<prop::sample::Index>()) {
        let text = json.to_string();
        compare(&text);
        let chars: Vec<char> = text.chars().collect();
        compare(&chars[..end.index(chars.len())].iter().collect::<String>());
    }
}

/// Formats that are not self-describing number fields and variants, or write names as bytes.
#[test]
fn numbers_and_bytes_name_fields_and_variants() {
    let mut arena = Arena::new();
    let keys: [&[u8]; 7] =
        [b"ONE-TWO", b"THREE", b"number", b"nothing", b"\xFF", b"l\xFFst\0", "\u{FFFD}".as_bytes()];
    macro_rules! check {
        ($ours:ty, $theirs:ty) => {
            let s = arena.scope();
            for index in 0..9u32 {
                let ours =
                    s.deserialize::<$ours, _>(IntoDeserializer::<Error>::into_deserializer(index));
                let theirs = IntoDeserializer::<Error>::into_deserializer(index);
                let theirs = <$theirs>::deserialize(theirs);
                assert_eq!(outcome(ours), outcome(theirs), "{} {index}", stringify!($theirs));
                let one =
                    || MapDeserializer::<_, Error>::new([(u64::from(index), 1u32)].into_iter());
                let theirs = outcome(<$theirs>::deserialize(one()));
                assert_eq!(outcome(s.deserialize::<$ours, _>(one())), theirs, "field {index}");
                let elements = || SeqDeserializer::<_, Error>::new(0..index);
                let theirs = outcome(<$theirs>::deserialize(elements()));
                assert_eq!(
                    outcome(s.deserialize::<$ours, _>(elements())),
                    theirs,
                    "{index} elements"
                );
            }
            for key in keys {
                let one = || MapDeserializer::<_, Error>::new([(key, 1u32)].into_iter());
                let theirs = outcome(<$theirs>::deserialize(one()));
                assert_eq!(outcome(s.deserialize::<$ours, _>(one())), theirs, "{key:?}");
            }
        };
    }
    each_pair!(check);
}

/// Compares the names in the messages about an unknown one, under every rule.
#[test]
fn every_rule_spells_names_as_serde_does() {
    macro_rules! check {
        ($($rule:literal)*) => {$({
            #[derive(Debug, DeserializeIn, Deserialize)]
            #[serde(rename_all = $rule, deny_unknown_fields)]
            #[allow(dead_code, non_snake_case, reason = "only `Debug` reads the fields")]
            struct Fields {
                one: u8,
                one_two3: u8,
                a__b: u8,
                _under: u8,
                r#type: u8,
            }

            #[derive(Debug, DeserializeIn, Deserialize)]
            #[serde(rename_all = $rule)]
            enum Variants {
                One,
                OneTwo3,
                ABc,
            }

            let mut arena = Arena::new();
            let s = arena.scope();
            let text = r#"{"?": 1}"#;
            let theirs = outcome(serde_json::from_str::<Fields>(text));
            assert_eq!(outcome(json::<Fields>(&s, text)), theirs);
            let theirs = outcome(serde_json::from_str::<Variants>(text));
            assert_eq!(outcome(json::<Variants>(&s, text)), theirs);
        })*};
    }
    check! {
        "lowercase" "UPPERCASE" "PascalCase" "camelCase" "snake_case" "SCREAMING_SNAKE_CASE"
        "kebab-case" "SCREAMING-KEBAB-CASE"
    }
}

/// Methods of every type, by value, which a call by a method of `&mut self` would find first.
#[deny(deprecated)]
mod among_traits_of_all_types {
    use super::*;

    #[allow(dead_code, clippy::wrong_self_convention, reason = "generated code must not call them")]
    trait OfAll: Sized {
        const LEN: usize = 2;

        fn is_some(self) -> bool {
            true
        }

        fn next_element_seed<S>(self, _: S) {}
        fn next_key_seed<S>(self, _: S) {}
        fn next_value_seed<S>(self, _: S) {}
        fn next_value<V>(self) {}
        fn variant_seed<S>(self, _: S) {}
        fn unit_variant(self) {}
        fn newtype_variant_seed<S>(self, _: S) {}
        fn struct_variant<V>(self, _: &[&str], _: V) {}
        fn tuple_variant<V>(self, _: usize, _: V) {}
    }

    impl<T> OfAll for T {}

    #[derive(Debug, DeserializeIn)]
    #[deprecated]
    struct Old<'a>
    where
        Self: OfAll,
    {
        text: &'a str,
        shapes: &'a [Shape],
    }

    #[derive(Debug, DeserializeIn)]
    enum Shape {
        #[deprecated]
        Unit,
        New(u8),
        Pair(u8, u8),
        Fields {
            number: u8,
        },
    }

    struct Len;

    impl Len {
        const OWN: usize = 2;
    }

    #[derive(Debug, DeserializeIn)]
    struct Lengths([u8; Len::OWN], [u8; <Self as OfAll>::LEN]);

    #[test]
    #[allow(deprecated)]
    fn the_derive_calls_what_it_means() {
        let mut arena = Arena::new();
        let s = arena.scope();
        let shapes = r#"["Unit", {"New": 1}, {"Pair": [1, 2]}, {"Fields": {"number": 3}}]"#;
        let old: Old<'_> =
            json(&s, &format!(r#"{{"text": "ebb", "?": 1, "shapes": {shapes}}}"#)).unwrap();
        let [Shape::Unit, Shape::New(1), Shape::Pair(1, 2), Shape::Fields { number: 3 }] =
            old.shapes
        else {
            panic!("{old:?}")
        };
        assert_eq!(old.text, "ebb");
        let sized: Lengths = json(&s, "[[1, 2], [3, 4]]").unwrap();
        assert_eq!((sized.0, sized.1), ([1, 2], [3, 4]));
    }
}

/// A type with parameters, and one whose collections hold the scope.
#[derive(Debug, DeserializeIn)]
#[allow(dead_code, reason = "only `Debug` reads the rows")]
struct Page<'a, T: fmt::Debug, const N: usize> {
    items: &'a mut [T],
    rows: [Option<T>; N],
}

#[derive(Debug, DeserializeIn)]
struct Growing<'s, 'a> {
    words: ScopeVec<'s, 'a, ScopeString<'s, 'a>>,
    name: Box<'a, str>,
    boxes: Box<'a, [Box<'a, str>]>,
}

fn json<'de, 's, 'a, T: DeserializeIn<'de, 's, 'a>>(
    s: &'s ebbtide::Scope<'a>,
    text: &'de str,
) -> serde_json::Result<T> {
    s.deserialize(&mut serde_json::Deserializer::from_str(text))
}

#[test]
fn types_have_parameters_and_up_to_two_lifetimes() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let page: Page<'_, (&str, u8), 2> =
        json(&s, r#"{"items": [["ebb", 1]], "rows": [null, ["flow", 2]]}"#).unwrap();
    page.items[0].1 += 1;
    assert_eq!(
        format!("{page:?}"),
        r#"Page { items: [("ebb", 2)], rows: [None, Some(("flow", 2))] }"#
    );
    let text = r#"{"words": ["ebb"], "name": "tide", "boxes": ["a", "b"]}"#;
    let mut growing: Growing<'_, '_> = json(&s, text).unwrap();
    growing.words[0].push_str(" and flow");
    growing.words.push(s.string());
    assert_eq!(
        (&*growing.words[0], &*growing.name, growing.boxes.len()),
        ("ebb and flow", "tide", 2)
    );
}

#[cfg(feature = "hashbrown-017")]
#[test]
fn maps_and_sets_are_fields() {
    use ebbtide::collections::{Map, OwnedMap, OwnedSet, Set};

    #[derive(DeserializeIn)]
    struct Maps<'s, 'a> {
        map: Map<'s, 'a, &'a str, u8>,
        set: Set<'s, 'a, u8>,
        owned: OwnedMap<'s, 'a, Box<'a, str>, OwnedSet<'s, 'a, Box<'a, str>>>,
    }

    let mut arena = Arena::new();
    let s = arena.scope();
    let text = r#"{"map": {"a": 1, "a": 2}, "set": [1, 1], "owned": {"b": ["c", "c"]}}"#;
    let maps: Maps<'_, '_> = json(&s, text).unwrap();
    assert_eq!((maps.map["a"], maps.set.len(), maps.owned["b"].len()), (2, 1, 1));
}

#[test]
fn strings_are_copied_unless_the_caller_borrows() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let text = String::from(r#"{"new": [{"two": ["plain", 1]}, {"two": ["esc\u0061ped", 2]}]}"#);
    let within = |part: &str| extent(&*text).contains(&part.as_ptr().addr());
    let pairs = |choice: &ours::Choice<'_>| match choice {
        ours::Choice::New(pairs) => match &**pairs {
            [ours::Choice::Pair(one, _), ours::Choice::Pair(two, _)] => (within(one), within(two)),
            _ => panic!("{pairs:?}"),
        },
        _ => panic!("{choice:?}"),
    };
    assert_eq!(pairs(&json(&s, &text).unwrap()), (false, false));
    let mut from = serde_json::Deserializer::from_str(&text);
    assert_eq!(pairs(&s.deserialize_borrowing(&mut from).unwrap()), (true, false));
}

/// A value outlives an input from which it does not borrow.
#[test]
fn the_input_may_end_first() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let plain: ours::Transparent<'_> = json(&s, &String::from(r#""ebb""#)).unwrap();
    assert!(format!("{plain:?}").contains("ebb"));
}

/// An announced length is not trusted, a full buffer is an error, and nothing is lost.
#[test]
fn memory_that_runs_out_is_an_error_of_the_deserialiser() {
    let long = format!(r#"{{"new": [{}"unit-variant"]}}"#, r#"{"two": ["flow", 1]}, "#.repeat(40));
    for room in [0, 8, 100, 500, 1000] {
        let mut fixed = Fixed::from_vec(Vec::with_capacity(room));
        let s = fixed.scope();
        let error = json::<ours::Choice<'_>>(&s, &long).unwrap_err().to_string();
        assert!(error.contains("no room"), "{error}");
    }
    struct Endless;
    impl<'de> serde::de::SeqAccess<'de> for Endless {
        type Error = Error;
        fn next_element_seed<S>(&mut self, _: S) -> Result<Option<S::Value>, Error>
        where
            S: serde::de::DeserializeSeed<'de>,
        {
            Ok(None)
        }
        fn size_hint(&self) -> Option<usize> {
            Some(usize::MAX)
        }
    }
    let mut arena = Arena::new();
    let s = arena.scope();
    let from = serde::de::value::SeqAccessDeserializer::new(Endless);
    assert_eq!(s.deserialize::<&[u64], _>(from).unwrap(), [0; 0]);
    assert!(s.stats().held < 200_000, "{}", s.stats());
}
