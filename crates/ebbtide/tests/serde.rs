//! Claim: values in a scope serialise like any others, and deserialise into a scope. Input with a
//! wrong length, and a full scope, are errors of the deserialiser, after which everything still
//! works.
#![cfg(all(feature = "serde", feature = "std"))]

use crate::common::{Census, Counted, assert_works, extent};
use ebbtide::{Arena, Fixed, Scope, boxed::Box};
use serde::{
    Deserialize, Serialize,
    de::{
        DeserializeSeed, Deserializer, IntoDeserializer, SeqAccess, Visitor,
        value::{BytesDeserializer, Error, SeqAccessDeserializer},
    },
};
use std::{cell::Cell, fmt, io, marker::PhantomData};

/// Deserialises a complete JSON text.
fn json<'de, S: DeserializeSeed<'de>>(seed: S, input: &'de str) -> serde_json::Result<S::Value> {
    let mut from = serde_json::Deserializer::from_str(input);
    let value = seed.deserialize(&mut from)?;
    from.end()?;
    Ok(value)
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
struct Sounding<'a> {
    place: &'a str,
    depth: f64,
}

#[test]
fn boxes_and_builders_serialise_as_what_they_hold() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let nested: Box<'_, [Box<'_, str>]> =
        s.boxed_slice_from_iter(["ebb", "flow"].map(|text| s.boxed_str(text)));
    assert_eq!(serde_json::to_string(&nested).unwrap(), r#"["ebb","flow"]"#);
    let one = s.boxed(Sounding { place: "Kattegat", depth: 130.5 });
    assert_eq!(serde_json::to_string(&one).unwrap(), r#"{"place":"Kattegat","depth":130.5}"#);
    let mut numbers = s.grow_vec();
    numbers.extend([1, 2, 3]);
    assert_eq!(serde_json::to_string(&numbers).unwrap(), "[1,2,3]");
    let mut text = s.grow_string();
    text.push_str("a \"word\"");
    assert_eq!(serde_json::to_string(&text).unwrap(), r#""a \"word\"""#);
}

#[test]
fn values_slices_and_strings_come_into_the_scope() {
    let mut arena = Arena::new();
    let s = arena.scope();
    assert_eq!(json(s.seed::<str>(), r#""ebb\nflow""#).unwrap(), "ebb\nflow");
    assert_eq!(json(s.seed::<u64>(), "18446744073709551615").unwrap(), &u64::MAX);
    assert_eq!(json(s.seed::<[i8]>(), "[-1, 2, -3]").unwrap(), &[-1, 2, -3]);
    assert_eq!(json(s.seed::<[[u8; 2]]>(), "[[1, 2], [3, 4]]").unwrap(), &[[1, 2], [3, 4]]);
    assert_eq!(json(s.seed::<[()]>(), "[null, null]").unwrap().len(), 2);
    assert_eq!(json(s.seed::<[Option<u8>]>(), "[null, 1]").unwrap(), &[None, Some(1)]);
    assert!(json(s.seed::<[u8]>(), "[]").unwrap().is_empty());
    let input = r#"[{"place": "Kattegat", "depth": 130}, {"depth": 700.5, "place": "Skagerrak"}]"#;
    let soundings = json(s.seed::<[Sounding<'_>]>(), input).unwrap();
    assert_eq!(soundings[1], Sounding { place: "Skagerrak", depth: 700.5 });
    assert!(extent(input).contains(&soundings[0].place.as_ptr().addr()), "derived ones borrow");
    soundings[0].depth = 1.0;

    let many: Vec<u64> = (0..100_000).collect();
    let text = serde_json::to_string(&many).unwrap();
    assert_eq!(json(s.seed::<[u64]>(), &text).unwrap(), &many[..]);
}

#[test]
fn boxes_own_what_needs_drop() {
    let mut arena = Arena::new();
    let s = arena.scope();
    assert_eq!(*json(s.boxed_seed::<String>(), r#""heap""#).unwrap(), "heap");
    assert_eq!(*json(s.boxed_seed::<[String]>(), r#"["a", "b"]"#).unwrap(), ["a", "b"]);
    assert_eq!(&*json(s.boxed_seed::<str>(), r#""in the scope""#).unwrap(), "in the scope");
    assert_eq!(**json(s.seed_boxed(s.boxed_seed::<String>()), r#""two""#).unwrap(), "two");
    let rows = json(s.seed_boxed_slice(s.boxed_seed::<[String]>()), r#"[["a"], [], ["b", "c"]]"#);
    assert_eq!(rows.unwrap().iter().map(|row| row.len()).collect::<Vec<_>>(), [1, 0, 2]);
}

#[test]
fn seeds_nest() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let cube = s.seed_slice(s.seed_slice(s.seed::<[u8]>()));
    let cube = json(cube, "[[[1, 2], []], [], [[3]]]").unwrap();
    assert_eq!((cube[0][0][1], cube[1].len(), cube[2][0][0]), (2, 0, 3));
    let map = s.seed_entries(s.seed::<str>(), s.seed_value(s.seed::<[f32]>()));
    let map = json(map, r#"{"b": [1.5], "a": [], "b": [2]}"#).unwrap();
    assert_eq!(map.iter().map(|(key, _)| &**key).collect::<String>(), "bab");
    assert_eq!(map[2].1, &mut [2.0]);

    // Rows that lie behind the growing outer slice force it to move again and again.
    let rows: Vec<Vec<usize>> = (0..2000).map(|row| (0..row % 17).collect()).collect();
    let text = serde_json::to_string(&rows).unwrap();
    let ours = json(s.seed_slice(s.seed::<[usize]>()), &text).unwrap();
    assert!(ours.iter().zip(&rows).all(|(ours, theirs)| **ours == **theirs));
    assert_eq!(ours.len(), rows.len());
}

#[test]
fn strings_without_escapes_are_borrowed_from_the_input() {
    let input = String::from(r#"["plain", "esc\u0061ped"]"#);
    let mut arena = Arena::new();
    let s = arena.scope();
    let texts = json(s.seed_slice(s.borrowing_seed::<str>()), &input).unwrap();
    assert_eq!(texts, ["plain", "escaped"]);
    let within = |text: &str| extent(input.as_str()).contains(&text.as_ptr().addr());
    assert_eq!((within(texts[0]), within(texts[1])), (true, false));

    let before = s.stats().used;
    let bytes = BytesDeserializer::<Error>::new(b"\xFFraw");
    assert_eq!(s.borrowing_seed::<[u8]>().deserialize(bytes).unwrap(), b"\xFFraw");
    let borrowed = serde::de::value::BorrowedBytesDeserializer::<Error>::new(b"\xFFraw");
    let used = s.stats().used;
    assert_eq!(s.borrowing_seed::<[u8]>().deserialize(borrowed).unwrap(), b"\xFFraw");
    assert_eq!(s.stats().used, used, "nothing was copied");
    assert!(used > before);
    let passing: serde::de::value::StrDeserializer<'_, Error> = "text".into_deserializer();
    assert_eq!(s.borrowing_seed::<[u8]>().deserialize(passing).unwrap(), b"text");
    assert_eq!(json(s.borrowing_seed::<[u8]>(), "[1, 2, 255]").unwrap(), [1, 2, 255]);
    assert_eq!(json(s.borrowing_seed::<[u8]>(), r#""text""#).unwrap(), b"text");
    let plain = BytesDeserializer::<Error>::new(b"a format without strings");
    assert_eq!(s.seed::<str>().deserialize(plain).unwrap(), "a format without strings");
    let wrong = BytesDeserializer::<Error>::new(b"\xFF");
    assert!(s.seed::<str>().deserialize(wrong).is_err());
}

#[test]
fn a_stream_is_copied() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut from = serde_json::Deserializer::from_reader(io::Cursor::new(r#""from a stream""#));
    assert_eq!(s.seed::<str>().deserialize(&mut from).unwrap(), "from a stream");
    let mut from = serde_json::Deserializer::from_reader(io::Cursor::new(r#"["a", "b"]"#));
    let texts = s.seed_slice(s.borrowing_seed::<str>()).deserialize(&mut from).unwrap();
    assert_eq!(texts, ["a", "b"]);
}

#[test]
fn wrong_input_is_an_error() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for input in
        ["", "[", "[1", "[1, 2", "[1, 300]", "[1, 2] 3", "{}", "\"a\"", "[1, null]", "[1 2]"]
    {
        assert!(json(s.seed::<[u8]>(), input).is_err(), "{input}");
        assert!(json(s.boxed_seed::<[u8]>(), input).is_err(), "{input}");
    }
    for input in ["", "1", "\"", "\"\\ud800\"", "[\"a\"]"] {
        assert!(json(s.seed::<str>(), input).is_err(), "{input}");
        assert!(json(s.borrowing_seed::<str>(), input).is_err(), "{input}");
    }
    let entries = || s.seed_entries(s.seed::<str>(), PhantomData::<u8>);
    for input in ["[]", "{\"a\"}", "{\"a\": 300}", "{\"a\": 1"] {
        assert!(json(entries(), input).is_err(), "{input}");
    }
    let error = json(s.seed::<[u8]>(), "{}").unwrap_err().to_string();
    assert!(error.contains("a sequence"), "{error}");
    assert_works(&s);
}

#[test]
fn a_full_buffer_is_an_error_and_keeps_what_it_had() {
    let numbers = serde_json::to_string(&(0..200).collect::<Vec<u64>>()).unwrap();
    let long = format!("{:?}", "x".repeat(1100));
    for room in [0, 1, 7, 8, 100, 1000, 1023, 1024] {
        let mut fixed = Fixed::from_vec(Vec::with_capacity(room + 8));
        let s = fixed.scope();
        let kept = s.alloc_slice_fill_copy(8, 7u8);
        let before = s.stats().used;
        let error = json(s.seed::<[u64]>(), &numbers).unwrap_err().to_string();
        assert!(error.contains("no room"), "{error}");
        assert_eq!(s.stats().used, before, "the slice was given back");
        assert!(json(s.seed::<str>(), &long).is_err());
        assert!(json(s.seed::<[[u64; 16]]>(), "[[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,2]]").is_err());
        assert!(json(s.borrowing_seed::<str>(), &long.replacen('x', "\\n", 1)).is_err());
        assert!(json(s.boxed_seed::<[u64; 32]>(), "0").is_err());
        assert_eq!(s.stats().used, before);
        if room > 8 {
            assert_eq!(json(s.seed::<[u8]>(), "[1, 2, 3, 4, 5, 6, 7, 8]").unwrap().len(), 8);
        }
        assert_eq!(kept, &[7; 8]);
    }
}

/// A sequence of counted values, with any size hint, which may end with an error.
struct Sequence<'c> {
    census: &'c Census,
    left: usize,
    announced: Option<usize>,
    fails: bool,
}

thread_local!(static NEXT: Cell<usize> = const { Cell::new(0) });

impl<'de> SeqAccess<'de> for Sequence<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        if self.left == 0 {
            return if self.fails { Err(serde::de::Error::custom("cut off")) } else { Ok(None) };
        }
        self.left -= 1;
        NEXT.set(self.census.made());
        seed.deserialize(1u64.into_deserializer()).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        self.announced
    }
}

/// Makes a value that has a destructor.
#[derive(Clone, Copy)]
struct CountedSeed<'c>(&'c Census);

impl<'de, 'c> DeserializeSeed<'de> for CountedSeed<'c> {
    type Value = Counted<'c>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Counted<'c>, D::Error> {
        u64::deserialize(from)?;
        Ok(self.0.make(NEXT.get()))
    }
}

#[test]
fn announced_lengths_are_believed_for_little_and_trusted_for_nothing() {
    let census = Census::default();
    let mut arena = Arena::new();
    arena.set_limit(Some(1 << 20));
    let s = arena.scope();
    let many = 1 << (usize::BITS / 2 + 8);
    for announced in [None, Some(0), Some(3), Some(1000), Some(many), Some(usize::MAX)] {
        let sequence = Sequence { census: &census, left: 10, announced, fails: false };
        let numbers = s.seed::<[u64]>().deserialize(SeqAccessDeserializer::new(sequence)).unwrap();
        assert_eq!(numbers, &[1; 10]);
        assert_eq!(size_of_val(numbers), 80);
        let sequence = Sequence { census: &census, left: 10, announced, fails: false };
        let units = s.seed_slice(Unit).deserialize(SeqAccessDeserializer::new(sequence)).unwrap();
        assert_eq!(units.len(), 10);
    }
    assert!(s.stats().held < 300_000, "{}", s.stats());
    assert!(s.stats().used < 100_000, "{}", s.stats());
}

/// A seed of zero-sized values.
#[derive(Clone, Copy)]
struct Unit;

impl<'de> DeserializeSeed<'de> for Unit {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        u64::deserialize(from).map(drop)
    }
}

#[test]
fn nothing_is_lost_when_an_input_fails_or_the_buffer_is_full() {
    let census = Census::default();
    let sequence = |left, fails| {
        SeqAccessDeserializer::new(Sequence { census: &census, left, announced: None, fails })
    };
    let mut arena = Arena::new();
    let s = arena.scope();
    let owned = s.seed_boxed_slice(CountedSeed(&census)).deserialize(sequence(20, false)).unwrap();
    assert_eq!((owned.len(), census.live()), (20, 20));
    assert!(s.seed_boxed_slice(CountedSeed(&census)).deserialize(sequence(20, true)).is_err());
    assert_eq!((census.made(), census.live()), (40, 20));
    drop(owned);
    assert_eq!(census.live(), 0);

    let mut fixed = Fixed::from_vec(Vec::with_capacity(300));
    let s = fixed.scope();
    let before = s.stats().used;
    assert!(s.seed_boxed_slice(CountedSeed(&census)).deserialize(sequence(500, false)).is_err());
    assert_eq!((census.live(), s.stats().used), (0, before));
    let one = s.seed_boxed(CountedSeed(&census));
    let mut ones = Vec::new();
    while let Ok(one) = one.deserialize(IntoDeserializer::<Error>::into_deserializer(1u64)) {
        ones.push(one);
    }
    assert_eq!(census.live(), ones.len());
    drop(ones);
    assert_eq!(census.live(), 0);
}

/// A recursive type, like the one in the documentation.
#[derive(Debug, PartialEq)]
struct Tree<'a>(&'a [Tree<'a>]);

#[derive(Clone, Copy)]
struct TreeSeed<'s, 'a>(&'s Scope<'a>);

impl<'de, 'a> DeserializeSeed<'de> for TreeSeed<'_, 'a> {
    type Value = Tree<'a>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Tree<'a>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, 'a> Visitor<'de> for TreeSeed<'_, 'a> {
    type Value = Tree<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tree")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, children: A) -> Result<Tree<'a>, A::Error> {
        Ok(Tree(self.0.seed_slice(self).deserialize(SeqAccessDeserializer::new(children))?))
    }
}

#[test]
fn trees_come_into_the_scope_however_deep() {
    let mut arena = Arena::new();
    for depth in [0, 1, 50, 100] {
        let s = arena.scope();
        let input = format!("{}{}", "[[],".repeat(depth) + "[", "]".repeat(depth + 1));
        let mut tree = json(TreeSeed(&s), &input).unwrap();
        for _ in 0..depth {
            let Tree([Tree([]), rest]) = tree else { panic!("two children") };
            tree = Tree(rest.0);
        }
        assert_eq!(tree, Tree(&[]));
    }
}

#[test]
fn vectors_and_strings_come_and_go() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut rows = json(s.seed_vec(s.seed_vec(PhantomData::<u16>)), "[[1, 2], [], [3]]").unwrap();
    rows[1].push(7);
    assert_eq!(serde_json::to_string(&rows).unwrap(), "[[1,2],[7],[3]]");
    let mut text = json(s.seed_string(), r#""ebb\t""#).unwrap();
    text.push_str("flow");
    assert_eq!(serde_json::to_string(&text).unwrap(), r#""ebb\tflow""#);

    let mut fixed = Fixed::from_vec(Vec::with_capacity(64));
    let s = fixed.scope();
    let before = s.stats().used;
    let numbers = serde_json::to_string(&[1u64; 20]).unwrap();
    assert!(json(s.seed_vec(PhantomData::<u64>), &numbers).is_err());
    assert!(json(s.seed_vec(PhantomData::<u64>), "[1, 2, -3]").is_err());
    assert!(json(s.seed_string(), &format!("{:?}", "x".repeat(65))).is_err());
    assert_eq!(s.stats().used, before);
    assert_eq!(json(s.seed_vec(PhantomData::<u64>), "[1, 2, 3]").unwrap().as_slice(), [1, 2, 3]);
}

#[cfg(feature = "hashbrown-017")]
#[test]
fn maps_and_sets_come_and_go() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let input = r#"{"a": [1], "b": [], "a": [2, 3]}"#;
    let map = json(s.seed_map(s.borrowing_seed::<str>(), s.seed::<[u8]>()), input).unwrap();
    assert_eq!((map.len(), &*map["a"]), (2, &[2, 3][..]));
    let back: serde_json::Value = serde_json::to_value(&map).unwrap();
    assert_eq!(back, serde_json::json!({"a": [2, 3], "b": []}));
    let set = json(s.seed_set(PhantomData::<u32>), "[3, 1, 3, 2, 1]").unwrap();
    assert_eq!(set.len(), 3);
    assert_eq!(serde_json::to_value(&set).unwrap().as_array().unwrap().len(), 3);

    // The destructors of keys and values run, with and without an error.
    let names = json(s.seed_map(PhantomData::<String>, PhantomData::<String>), r#"{"a": "b"}"#);
    assert_eq!(names.unwrap()["a"], "b");
    assert!(json(s.seed_set(PhantomData::<String>), r#"["a", "b", 1]"#).is_err());

    let mut fixed = Fixed::from_vec(Vec::with_capacity(512));
    let s = fixed.scope();
    let numbers = serde_json::to_string(&(0..1000).collect::<Vec<u64>>()).unwrap();
    assert!(json(s.seed_set(PhantomData::<u64>), &numbers).is_err());
    assert_eq!(json(s.seed_set(PhantomData::<u64>), "[1, 2, 3]").unwrap().len(), 3);
}
