//! Claim: a dynamic value behaves like `serde_json::Value`: it has the same contents under the same
//! keys and indices, prints the same text, and refuses the same input, after which the scope is
//! intact. It is `Copy` and borrows only from its input and its scope.
#![cfg(all(feature = "serde", feature = "std"))]

use crate::common::{assert_works, properties};
use ebbtide::{AllocError, Arena, Fixed, Scope, dynamic::Value};
use proptest::prelude::*;
use serde::de::{
    DeserializeSeed, Deserializer, IntoDeserializer, Visitor,
    value::{BorrowedBytesDeserializer, BytesDeserializer, Error, SeqDeserializer},
};
use serde_json::{Map, Number};
use std::{io, mem};

type Json = serde_json::Value;

/// Deserialises JSON to its end.
fn parse<'a>(s: &Scope<'a>, input: &'a [u8]) -> serde_json::Result<Value<'a>> {
    let mut from = serde_json::Deserializer::from_slice(input);
    let value = s.seed_any().deserialize(&mut from)?;
    from.end()?;
    Ok(value)
}

/// Compares with a value of `serde_json`, through every accessor.
fn same(ours: &Value<'_>, theirs: &Json) -> bool {
    let scalars = ours.is_null() == theirs.is_null()
        && ours.as_bool() == theirs.as_bool()
        && ours.as_u64() == theirs.as_u64()
        && ours.as_i64() == theirs.as_i64()
        && ours.as_f64() == theirs.as_f64()
        && ours.as_str() == theirs.as_str();
    let arrays = match (ours.as_array(), theirs.as_array()) {
        (Some(ours_in), Some(theirs)) => {
            ours_in.len() == theirs.len()
                && ours.get_index(theirs.len()).is_none()
                && theirs.iter().enumerate().all(|(n, theirs)| same(&ours[n], theirs))
        }
        (ours_in, theirs) => ours_in.is_none() && theirs.is_none(),
    };
    let objects = match (ours.as_object(), theirs.as_object()) {
        (Some(members), Some(theirs)) => {
            members.len() >= theirs.len()
                && members.iter().all(|(key, _)| theirs.contains_key(*key))
                && theirs.iter().all(|(key, theirs)| same(&ours[key.as_str()], theirs))
        }
        (members, theirs) => members.is_none() && theirs.is_none(),
    };
    scalars && arrays && objects
}

/// Any document. It has few different keys, so that some are equal, and texts that need escapes.
fn documents() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<u64>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(|n| Number::from_f64(n).map_or(Json::Null, Json::Number)),
        "[a-c\\\\\"\n\u{e9}\u{1f30a}]{0,12}".prop_map(Json::String),
    ];
    leaf.prop_recursive(6, 200, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Json::Array),
            prop::collection::vec(("[a-d\"]{0,2}", inner), 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(properties(256))]

    #[test]
    fn a_document_holds_the_same_and_is_written_the_same(document in documents(), pretty: bool) {
        let text = if pretty { format!("{document:#}") } else { document.to_string() };
        // Parsed again, because `serde_json` does not print every float as it was written.
        let theirs: Json = serde_json::from_str(&text).unwrap();
        let mut arena = Arena::new();
        let s = arena.scope();
        let ours = parse(&s, text.as_bytes()).unwrap();
        prop_assert!(same(&ours, &theirs), "{text}: {ours:?}");
        prop_assert_eq!(serde_json::to_string(&ours).unwrap(), theirs.to_string());
        // A stream lends nothing; the result is the same.
        let mut stream = serde_json::Deserializer::from_reader(io::Cursor::new(text.as_bytes()));
        prop_assert_eq!(s.seed_any().deserialize(&mut stream).unwrap(), ours);
    }

    #[test]
    fn damaged_input_is_refused_where_serde_json_refuses_it(
        document in documents(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..4),
    ) {
        let mut bytes = serde_json::to_vec(&document).unwrap();
        for (place, byte, kind) in damage {
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => drop(bytes.remove(place)),
                2 => bytes.insert(place, b"[]{}\",:0"[usize::from(byte % 8)]),
                _ => bytes.truncate(place),
            }
        }
        let mut arena = Arena::new();
        let s = arena.scope();
        match (parse(&s, &bytes), serde_json::from_slice::<Json>(&bytes)) {
            (Ok(ours), Ok(theirs)) => prop_assert!(same(&ours, &theirs), "{ours:?}, {theirs:?}"),
            (Err(ours), Err(theirs)) => prop_assert_eq!(ours.to_string(), theirs.to_string()),
            (ours, theirs) => prop_assert!(false, "{ours:?}, {theirs:?}"),
        }
        assert_works(&s);
    }
}

#[test]
fn numbers_are_those_of_serde_json_however_large() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for text in [
        "0",
        "-0",
        "-0.0",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "9223372036854775808",
        "123456789012345678901234567890",
        "1e308",
        "1e400",
        "-1e999999999",
        "1e-999999999",
        "0.1",
        "01",
        "1.",
        "+1",
        "NaN",
    ] {
        let theirs = serde_json::from_str::<Json>(text);
        match parse(&s, text.as_bytes()) {
            Ok(ours) => {
                assert!(same(&ours, &theirs.unwrap()), "{text}");
                let written = serde_json::to_string(&ours).unwrap();
                assert_eq!(written, serde_json::from_str::<Json>(text).unwrap().to_string());
            }
            Err(_) => assert!(theirs.is_err(), "{text}"),
        }
    }
}

#[test]
fn of_members_with_the_same_key_all_are_kept_and_the_last_is_found() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let input = r#"{"a": 1, "b": 2, "a": {"a": 3}, "\u0061": 4}"#;
    let value = parse(&s, input.as_bytes()).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 4);
    assert_eq!(value["a"].as_u64(), Some(4));
    assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"a":1,"b":2,"a":{"a":3},"a":4}"#);
}

#[test]
fn deep_nesting_is_refused_where_serde_json_refuses_it() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for depth in [1, 100, 127, 128, 129, 1_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = if open == "[" { "" } else { "1" };
            let text = [&open.repeat(depth), inner, &close.repeat(depth)].concat();
            let text = s.alloc_str(&text);
            let ours = parse(&s, text.as_bytes());
            let theirs = serde_json::from_str::<Json>(text);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{depth}");
            if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                assert!(same(&ours, &theirs));
            }
            let unclosed = s.alloc_str(&open.repeat(depth));
            assert!(parse(&s, unclosed.as_bytes()).is_err());
        }
    }
    assert_works(&s);
}

#[test]
fn strings_and_keys_without_escapes_are_borrowed_from_the_input() {
    let input = r#"{"plain": "as it is", "esc\"aped": "one\nline"}"#;
    let is_borrowed = |text: &str| input.as_bytes().as_ptr_range().contains(&text.as_ptr());
    let mut arena = Arena::new();
    let s = arena.scope();
    let value = parse(&s, input.as_bytes()).unwrap();
    let borrowed: Vec<_> = value
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (is_borrowed(key), is_borrowed(value.as_str().unwrap())))
        .collect();
    assert_eq!(borrowed, [(true, true), (false, false)]);
    assert_eq!(value["esc\"aped"].as_str(), Some("one\nline"));
}

#[test]
fn a_full_scope_is_an_error_of_the_deserializer() {
    let input = format!("[{}[[1, \"\\n\"]]]", "{\"a\": [1, 2, 3], \"b\\n\": 4},".repeat(100));
    let mut refused = 0;
    for size in (0..24_000).step_by(97) {
        let mut memory = vec![mem::MaybeUninit::uninit(); size];
        let mut fixed = Fixed::new(&mut memory);
        let s = fixed.scope();
        match parse(&s, input.as_bytes()) {
            Ok(value) => assert_eq!(value.as_array().unwrap().len(), 101),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains(&AllocError.to_string()), "{error}");
            }
        }
    }
    assert!((10..240).contains(&refused), "{refused}");
}

#[test]
fn other_formats_give_bytes_options_wide_integers_and_lengths_that_lie() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let any = || s.seed_any();
    let ok =
        |value: Result<Value<'_>, Error>, expected: Value<'_>| assert_eq!(value.unwrap(), expected);
    ok(any().deserialize(BytesDeserializer::new(b"ebb")), "ebb".into());
    ok(any().deserialize(BorrowedBytesDeserializer::new(b"ebb")), "ebb".into());
    assert!(any().deserialize(BytesDeserializer::<Error>::new(&[0xFF])).is_err());
    assert!(any().deserialize(BorrowedBytesDeserializer::<Error>::new(&[0xFF])).is_err());
    ok(any().deserialize('e'.into_deserializer()), "e".into());
    ok(any().deserialize(().into_deserializer()), Value::Null);
    ok(any().deserialize(7_u128.into_deserializer()), 7.into());
    ok(any().deserialize((-7_i128).into_deserializer()), (-7).into());
    assert!(any().deserialize(IntoDeserializer::<Error>::into_deserializer(u128::MAX)).is_err());
    assert!(any().deserialize(IntoDeserializer::<Error>::into_deserializer(i128::MIN)).is_err());
    ok(any().visit_some(1.5.into_deserializer()), 1.5.into());
    ok(any().visit_none(), Value::Null);
    ok(any().visit_newtype_struct(true.into_deserializer()), true.into());

    /// Announces more elements than there are.
    struct Boasting(u8);
    impl Iterator for Boasting {
        type Item = u8;
        fn next(&mut self) -> Option<u8> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, Some(usize::MAX))
        }
    }
    impl<'de> IntoDeserializer<'de, Error> for Boasting {
        type Deserializer = SeqDeserializer<Boasting, Error>;
        fn into_deserializer(self) -> Self::Deserializer {
            SeqDeserializer::new(self)
        }
    }
    let list = Boasting(3).into_deserializer().deserialize_any(any()).unwrap();
    assert_eq!(list, Value::Array(&[2.into(), 1.into(), 0.into()]));
    // A key that is not a string.
    let map = serde::de::value::MapDeserializer::<_, Error>::new([(1_u8, 2_u8)].into_iter());
    assert!(any().deserialize(map).is_err());
    assert_works(&s);
}

#[test]
fn lookups_that_find_nothing_give_null_and_never_panic() {
    let object = Value::Object(&[("a", Value::Bool(true))]);
    let array = Value::Array(&[Value::Bool(true)]);
    for value in [Value::Null, Value::Bool(true), 1.into(), 1.5.into(), "a".into(), object, array] {
        for index in [1, usize::MAX] {
            assert_eq!((value[index], value.get_index(index)), (Value::Null, None));
        }
        assert_eq!((value["b"], value.get("b")), (Value::Null, None));
        assert_eq!(value["b"][0]["a"], Value::Null);
    }
    assert_eq!((object["a"], array[0]), (Value::Bool(true), Value::Bool(true)));
    assert_eq!((object[0], array["a"]), (Value::Null, Value::Null));
}

#[test]
fn a_value_is_copy_covariant_shared_by_threads_and_small() {
    fn is_plain<T: Copy + Send + Sync + Unpin>() {}
    is_plain::<Value<'_>>();
    fn shorter<'short>(value: Value<'static>, _: &'short str) -> Value<'short> {
        value
    }
    assert_eq!(shorter(Value::default(), &String::from("x")), Value::Null);
    assert!(!mem::needs_drop::<Value<'_>>());
    #[cfg(target_pointer_width = "64")]
    assert_eq!((size_of::<Value<'_>>(), size_of::<(&str, Value<'_>)>()), (24, 40));
    // Non-negative integers have one variant, whichever type they were made from.
    assert_eq!(Value::from(7_i64), Value::from(7_u8));
    assert_eq!(Value::from(-7_i8), Value::Signed(-7));
    assert_eq!(Value::from(0.5_f32), Value::Float(0.5));
}
