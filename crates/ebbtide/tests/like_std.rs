//! Claim: each method and trait of the vectors, strings, maps and sets of a scope behaves like that
//! of the standard library.

#![cfg(feature = "full")]

use ebbtide::{
    Arena, Scope,
    boxed::Box,
    collections::{CollectIn, Map, NodeVec, OwnedVec, Set, String, Vec},
};
use std::{
    borrow::{Borrow, BorrowMut},
    collections::{HashMap, HashSet, hash_map::DefaultHasher},
    ffi::OsStr,
    fmt::Write,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    path::Path,
};

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn a_string_is_edited_like_stds() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut ours = String::from_str_in("héllo wörld", &s);
    let mut theirs = std::string::String::from("héllo wörld");
    macro_rules! both {
        ($method:ident($($argument:expr),*)) => {{
            assert_eq!(ours.$method($($argument),*), theirs.$method($($argument),*));
            assert_eq!(ours.as_str(), theirs.as_str());
        }};
    }
    both!(push('é'));
    both!(push_str(" and more"));
    both!(insert(3, 'x'));
    both!(insert_str(0, "ä"));
    both!(remove(2));
    both!(pop());
    both!(retain(|c| c != 'o'));
    both!(replace_range(2..4, "longer than before"));
    both!(replace_range(..3, ""));
    both!(extend_from_within(1..4));
    both!(truncate(9));
    both!(reserve(100));
    both!(reserve_exact(200));
    both!(shrink_to(50));
    both!(shrink_to_fit());
    assert!(ours.capacity() >= ours.len());
    ours.try_push('z').unwrap();
    ours.try_push_str("zz").unwrap();
    ours.try_insert(0, 'a').unwrap();
    ours.try_insert_str(1, "bc").unwrap();
    ours.try_replace_range(0..1, "A").unwrap();
    ours.try_reserve(10).unwrap();
    ours.try_reserve_exact(20).unwrap();
    theirs = format!("Abc{theirs}zzz");
    assert_eq!(ours, *theirs);
    assert_eq!(ours.split_off(4).as_str(), theirs.split_off(4));
    {
        let (mut ours, mut theirs) = (ours.drain(1..3), theirs.drain(1..3));
        assert_eq!(ours.as_str(), "bc");
        assert!(format!("{ours:?}").contains("bc"));
        assert_eq!((ours.next_back(), ours.size_hint().1), (theirs.next_back(), Some(1)));
        assert_eq!((ours.next(), ours.next()), (theirs.next(), None));
    }
    assert_eq!(ours.as_str(), theirs);
    ours.as_mut_str().make_ascii_lowercase();
    theirs.make_ascii_lowercase();
    assert_eq!(ours.as_str(), theirs);
    both!(clear());
    both!(pop());
}

#[test]
fn a_string_is_made_like_stds() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    {
        let s = &s;
        assert_eq!(String::new_in(s).as_str(), "");
        assert!(String::with_capacity_in(10, s).capacity() >= 10);
        assert!(s.string_with_capacity(10).capacity() >= 10);
        assert!(s.try_string_with_capacity(10).unwrap().is_empty());
        let from_pieces = String::from_iter_in(["a", "bc"], s);
        assert_eq!(from_pieces.as_str(), "abc");
        assert!(std::ptr::eq(from_pieces.scope(), s));
        let broken = [b'a', 0xFF, b'b', 0xC3];
        let lossy = std::string::String::from_utf8_lossy(&broken);
        assert_eq!(String::from_utf8_lossy_in(&broken, s).as_str(), lossy);
        let units: std::vec::Vec<u16> = "añ𝄞".encode_utf16().collect();
        assert_eq!(String::from_utf16_in(&units, s).unwrap().as_str(), "añ𝄞");
        assert!(String::from_utf16_in(&units[..3], s).is_err());
        let lossy = std::string::String::from_utf16_lossy(&units[..3]);
        assert_eq!(String::from_utf16_lossy_in(&units[..3], s).as_str(), lossy);
        let mut bytes = s.vec();
        bytes.extend_from_slice(b"text");
        let text = String::from_utf8(bytes).unwrap();
        let mut bytes = text.into_bytes();
        bytes.push(0xFF);
        let error = String::from_utf8(bytes).unwrap_err();
        assert_eq!(error.as_bytes(), b"text\xFF");
        assert_eq!(error.utf8_error().valid_up_to(), 4);
        assert!(format!("{error} {error:?}").contains("invalid"));
        assert_eq!(error.into_bytes().as_slice(), b"text\xFF");
        let boxed = String::from_str_in("boxed", s).into_boxed_str();
        assert_eq!(&*boxed, "boxed");
        let leaked: &str = String::from_str_in("kept", s).into();
        let boxed: Box<'_, str> = String::from_str_in("boxed", s).into();
        assert_eq!((leaked, &*boxed), ("kept", "boxed"));
        assert_eq!(String::from_str_in("kept", s).into_str(), "kept");
    }
    let mut built = s.grow_string();
    built.push_str("built");
    assert_eq!(&*built.into_boxed_str(), "built");
    let mut built = s.grow_string();
    write!(built, "{}", 1).unwrap();
    assert_eq!(built.into_str(), "1");
}

#[test]
fn a_string_has_the_traits_of_stds() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut text = String::from_str_in("text", &s);
    let other = text.clone();
    assert_eq!((text == other, text < String::from_str_in("u", &s)), (true, true));
    assert_eq!(text.cmp(&other), std::cmp::Ordering::Equal);
    assert_eq!(text.partial_cmp(&other), Some(std::cmp::Ordering::Equal));
    assert_eq!(hash_of(&text), hash_of("text"));
    assert_eq!(format!("{text} {text:?}"), "text \"text\"");
    assert_eq!(<_ as AsRef<str>>::as_ref(&text), "text");
    assert_eq!(<_ as AsRef<[u8]>>::as_ref(&text), b"text");
    assert_eq!(<_ as AsRef<OsStr>>::as_ref(&text), "text");
    assert_eq!(<_ as AsRef<Path>>::as_ref(&text), Path::new("text"));
    assert_eq!(<_ as Borrow<str>>::borrow(&text), "text");
    <_ as AsMut<str>>::as_mut(&mut text).make_ascii_uppercase();
    <_ as BorrowMut<str>>::borrow_mut(&mut text).make_ascii_lowercase();
    text.make_ascii_uppercase();
    text += "!";
    let mut text = text + "?";
    text.write_char('.').unwrap();
    text.write_str("..").unwrap();
    text.extend(['a', 'b']);
    text.extend([&'c']);
    text.extend(["de", "f"]);
    text.extend([&other]);
    assert_eq!(text.as_str(), "TEXT!?...abcdeftext");
    assert_eq!(std::string::String::from(&text), text.as_str());
    assert_eq!(std::string::String::from(text).len(), 19);
}

/// Hashes everything to the same value, so that a map has collisions.
#[derive(Clone, Default)]
struct Alike;

impl BuildHasher for Alike {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher::new()
    }
}

#[test]
fn a_map_is_used_like_stds() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut ours: Map<'_, '_, u32, u32> = s.map();
    let mut theirs = HashMap::new();
    for number in 0..200 {
        assert_eq!(ours.insert(number * 7 % 100, number), theirs.insert(number * 7 % 100, number));
    }
    ours.extend([(1_000, 1), (1_001, 2)]);
    ours.extend([(&1_002, &3)]);
    theirs.extend([(1_000, 1), (1_001, 2), (1_002, 3)]);
    let sorted = |map: &Map<'_, '_, u32, u32>| {
        let mut all: std::vec::Vec<_> =
            map.into_iter().map(|(key, value)| (*key, *value)).collect();
        all.sort_unstable();
        all
    };
    let mut expected: std::vec::Vec<_> = theirs.iter().map(|(key, value)| (*key, *value)).collect();
    expected.sort_unstable();
    assert_eq!(sorted(&ours), expected);
    assert_eq!(ours[&1_000], theirs[&1_000]);
    let copy = ours.clone();
    assert!(copy == ours && format!("{copy:?}").contains("1000: 1"));
    for (_, value) in &mut ours {
        *value += 1;
    }
    assert!(copy != ours);
    assert_eq!(ours.into_iter().count(), 103);
    let entries = copy.into_entries();
    entries.sort_unstable();
    assert_eq!(entries, expected);

    let mut few = s.map_with_capacity::<_, u8>(10);
    few.insert("key", 1);
    let inner = few.into_inner();
    assert_eq!(Map::from(inner).get("key"), Some(&1));
    let mut alike: Map<'_, '_, u8, u8, _> = s.map_with_hasher(Alike);
    alike.insert(1, 2);
    assert_eq!(alike.get(&1), Some(&2));
    let mut random = s.map_with_hasher::<u8, u8, _>(RandomState::new());
    random.insert(1, 2);
    assert_eq!(random.len(), 1);
    let mut roomy = s.map_with_capacity_and_hasher(100, RandomState::new());
    assert!(roomy.capacity() >= 100);
    roomy.insert('k', 'v');
    assert!(roomy.clone().into_keys().eq(['k']) && roomy.into_values().eq(['v']));
    let mut owned = s.owned_map();
    owned.insert(std::string::String::from("owned"), vec![1]);
    assert_eq!(owned["owned"], [1]);
}

#[test]
fn a_set_is_used_like_stds() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut ours: Set<'_, '_, u32> = s.set();
    let mut theirs = HashSet::new();
    for number in 0..200 {
        assert_eq!(ours.insert(number * 7 % 100), theirs.insert(number * 7 % 100));
    }
    ours.extend([1_000, 1_001]);
    ours.extend([&1_002]);
    theirs.extend([1_000, 1_001, 1_002]);
    assert!(ours.contains(&1_000) && ours.remove(&1_001) && theirs.remove(&1_001));
    assert_eq!((&ours).into_iter().copied().collect::<HashSet<_>>(), theirs);
    let copy = ours.clone();
    assert!(copy == ours && format!("{copy:?}").contains("1002"));
    assert_eq!(copy.into_iter().collect::<HashSet<_>>(), theirs);
    let mut few = s.set_with_capacity(3);
    few.insert('x');
    let few = Set::from(few.into_inner());
    assert_eq!(few.into_slice(), ['x']);
    let mut roomy = s.set_with_capacity_and_hasher(100, RandomState::new());
    assert!(roomy.capacity() >= 100 && roomy.insert(1));
    assert!(s.set_with_hasher(Alike).insert(1));
    let mut owned = s.owned_set();
    owned.insert(std::string::String::from("owned"));
    assert!(owned.contains("owned"));
    assert_eq!(ours.into_slice().len(), theirs.len());
}

#[test]
fn everything_is_collected_in_a_scope() {
    fn all<'s, 'a: 's>(s: &'s Scope<'a>) -> (Vec<'s, 'a, u8>, NodeVec<'a, u8>, Box<'a, [u8]>) {
        let numbers = || [3_u8, 1, 2].into_iter();
        let slice: &mut [u8] = numbers().collect_in(s);
        let shared: &[u8] = numbers().collect_in(s);
        assert_eq!((&*slice, shared), (&[3, 1, 2][..], &[3, 1, 2][..]));
        (numbers().collect_in(s), numbers().collect_in(s), numbers().collect_in(s))
    }
    let mut arena = Arena::new();
    let s = arena.scope();
    let (vector, node, boxed) = all(&s);
    assert_eq!(vector.as_slice(), [3, 1, 2]);
    assert_eq!((node.as_slice(), &*boxed), (&[3, 1, 2][..], &[3, 1, 2][..]));
    let text: String<'_, '_> = ["a", "b"].into_iter().collect_in(&s);
    let map: Map<'_, '_, u8, u8> = [(1, 2)].into_iter().collect_in(&s);
    let set: Set<'_, '_, u8> = [1, 1].into_iter().collect_in(&s);
    assert_eq!((text.as_str(), map[&1], set.len()), ("ab", 2, 1));
}

#[test]
fn options_and_results_are_collected_up_to_the_first_failure() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let taken = std::cell::Cell::new(0);
    let below = |end: u8| {
        (0..9_u8)
            .inspect(|_| taken.set(taken.get() + 1))
            .map(move |n| if n < end { Ok(n) } else { Err(n) })
    };
    assert_eq!(below(9).collect_in::<Result<Vec<'_, '_, u8>, u8>>(&s).unwrap().len(), 9);
    taken.set(0);
    assert_eq!(below(3).collect_in::<Result<Vec<'_, '_, u8>, u8>>(&s), Err(3));
    assert_eq!(taken.get(), 4, "nothing is taken after the first error");
    assert_eq!(below(0).map(Result::ok).collect_in::<Option<&[u8]>>(&s), None);
    assert_eq!(below(9).map(Result::ok).collect_in::<Option<&[u8]>>(&s).unwrap().len(), 9);
    let entry = |n: u8| if n == 7 { Err("seven") } else { Ok((n, n)) };
    let map = |end| (0..end).map(entry).collect_in::<Result<Map<'_, '_, u8, u8>, &str>>(&s);
    assert_eq!((map(7).map(|map| map.len()), map(8).err()), (Ok(7), Some("seven")));
    let shared = std::rc::Rc::new(());
    let owned = (0..5).map(|n| if n < 4 { Some(shared.clone()) } else { None });
    assert!(owned.collect_in::<Option<OwnedVec<'_, '_, _>>>(&s).is_none());
    assert_eq!(std::rc::Rc::strong_count(&shared), 1, "the clones were dropped");
}

#[test]
fn a_vector_is_edited_like_stds() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut ours = s.vec_with_capacity(4);
    let mut theirs = std::vec::Vec::with_capacity(4);
    macro_rules! both {
        ($method:ident($($argument:expr),*)) => {{
            assert_eq!(ours.$method($($argument),*), theirs.$method($($argument),*));
            assert_eq!(ours.as_slice(), theirs.as_slice());
        }};
    }
    both!(extend_from_slice(&[5, 3, 3, 8, 1, 1, 9]));
    both!(push(7));
    both!(insert(2, 40));
    both!(remove(1));
    both!(swap_remove(0));
    both!(pop());
    both!(pop_if(|n| *n > 100));
    both!(pop_if(|n| *n < 100));
    both!(dedup());
    both!(dedup_by_key(|n| *n / 10));
    both!(dedup_by(|a, b| a == b));
    both!(resize(9, 6));
    both!(resize_with(11, || 4));
    both!(extend_from_within(1..3));
    both!(retain(|n| *n != 6));
    both!(retain_mut(|n| {
        *n += 1;
        *n != 2
    }));
    both!(reserve(30));
    both!(reserve_exact(60));
    both!(shrink_to(20));
    both!(shrink_to_fit());
    let (mut more, mut same) = (ours.clone(), theirs.clone());
    ours.append(&mut more);
    theirs.append(&mut same);
    ours.try_append(&mut more).unwrap();
    both!(truncate(6));
    assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), false));
    assert!(ours.capacity() >= 6 && !ours.as_ptr().is_null() && !ours.as_mut_ptr().is_null());
    assert!(ours.spare_capacity_mut().len() + 6 <= ours.capacity());
    *ours.push_mut(1) += 1;
    ours.push_with(|| 3);
    assert_eq!((*ours.insert_mut(0, 6), ours.remove(0)), (6, 6));
    assert_eq!((ours.try_push_mut(6).copied(), ours.pop()), (Ok(6), Some(6)));
    assert_eq!((ours.try_insert_mut(2, 6).copied(), ours.remove(2)), (Ok(6), 6));
    ours.try_push_with(|| 6).unwrap();
    assert_eq!(ours.pop(), Some(6));
    ours.try_push(4).unwrap();
    ours.try_insert(0, 5).unwrap();
    ours.try_reserve(3).unwrap();
    ours.try_reserve_exact(3).unwrap();
    ours.try_extend_from_slice(&[6]).unwrap();
    ours.try_extend_from_slice_copy(&[7]).unwrap();
    ours.extend_from_slice_copy(&[8]);
    ours.extend_from_slices_copy(&[&[9], &[10, 11]]);
    ours.try_extend_from_within(0..1).unwrap();
    ours.try_extend([12]).unwrap();
    ours.extend(&[13]);
    theirs.extend([2, 3, 4]);
    theirs.insert(0, 5);
    theirs.extend([6, 7, 8, 9, 10, 11, 5, 12, 13]);
    assert_eq!(ours, *theirs);
    ours.try_resize(18, 1).unwrap();
    ours.try_resize_with(20, || 2).unwrap();
    theirs.resize(18, 1);
    theirs.resize(20, 2);
    assert_eq!(ours.split_off(15).as_slice(), theirs.split_off(15));
    assert_eq!(ours.try_split_off(12).unwrap().as_slice(), theirs.split_off(12));
    let ours_out: std::vec::Vec<_> = ours.splice(2..4, [20, 21, 22]).rev().collect();
    let theirs_out: std::vec::Vec<_> = theirs.splice(2..4, [20, 21, 22]).rev().collect();
    assert_eq!((ours_out, ours.as_slice()), (theirs_out, theirs.as_slice()));
    let ours_out: std::vec::Vec<_> = ours.extract_if(.., |n| *n > 9).collect();
    theirs.retain(|n| *n <= 9);
    assert!(ours_out.iter().all(|n| *n > 9) && ours == *theirs);
    {
        let mut drained = ours.drain(1..3);
        assert_eq!((drained.len(), drained.as_slice().len()), (2, 2));
        assert!(format!("{drained:?}").len() > 4);
        assert!(drained.next_back().is_some());
    }
    theirs.drain(1..3);
    assert_eq!(ours, *theirs);
    for n in &mut ours {
        *n += 1;
    }
    let copy = ours.clone();
    assert!((&ours).into_iter().eq(&copy) && copy >= ours && copy == ours);
    let mut left = copy.into_iter();
    assert_eq!((left.next(), left.len()), (Some(theirs[0] + 1), theirs.len() - 1));
    let rest = left.as_slice().len();
    assert_eq!(rest, left.count());
    both_empty(&mut ours);
    let mut bytes = s.vec();
    std::io::Write::write_all(&mut bytes, b"bytes").unwrap();
    std::io::Write::flush(&mut bytes).unwrap();
    assert_eq!(bytes.into_boxed_slice()[..], *b"bytes");
}

#[test]
fn a_node_vec_is_edited_like_stds() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut ours = Vec::from_array_in([5, 3, 3, 8, 1, 1, 9], &s).into_node_vec();
    let mut theirs = std::vec![5, 3, 3, 8, 1, 1, 9];
    macro_rules! both {
        ($method:ident($($argument:expr),*)) => {{
            assert_eq!(ours.with(&s).$method($($argument),*), theirs.$method($($argument),*));
            assert_eq!(ours.as_slice(), theirs.as_slice());
        }};
    }
    ours.push(&s, 7);
    theirs.push(7);
    both!(insert(2, 40));
    both!(reserve(20));
    both!(reserve_exact(30));
    assert!(ours.capacity() >= 38);
    both!(shrink_to(20));
    assert!((20..38).contains(&ours.capacity()));
    both!(shrink_to_fit());
    assert_eq!(ours.capacity(), 9);
    both!(extend_from_slice(&[1, 2]));
    both!(extend_from_within(2..5));
    both!(resize(20, 6));
    both!(resize_with(23, || 4));
    both!(resize_with(2, || panic!("it ran")));
    ours.extend(&s, [7, 8, 9]);
    theirs.extend([7, 8, 9]);
    let mut tail = ours.split_off(3);
    assert_eq!(tail, *theirs.split_off(3));
    assert_eq!(tail, [8, 9]);
    ours.with(&s).append(&mut tail);
    theirs.extend([8, 9]);
    assert!(tail.is_empty() && ours == *theirs);
    {
        let mut lent = ours.with(&s);
        *lent.push_mut(1) += 1;
        lent.push_with(|| 3);
        *lent.insert_mut(0, 1) += 3;
        *lent.try_push_mut(1).unwrap() += 4;
        lent.try_push_with(|| 6).unwrap();
        *lent.try_insert_mut(1, 1).unwrap() += 6;
        lent.try_resize_with(12, || 8).unwrap();
        lent.extend_from_slices_copy(&[&[9], &[10, 11]]);
        lent.try_extend_from_slices_copy(&[&[12], &[]]).unwrap();
        assert_eq!(lent.splice(13.., [20, 21, 22]).collect::<std::vec::Vec<_>>(), [10, 11, 12]);
    }
    theirs.extend([2, 3, 5, 6]);
    theirs.splice(0..0, [4, 7]);
    theirs.resize(12, 8);
    theirs.extend([9, 20, 21, 22]);
    assert_eq!(ours, *theirs);
    assert_eq!(format!("{:?}", ours.with(&s)), format!("{theirs:?}"));
}

#[test]
fn a_vector_is_converted_like_stds() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    {
        let s = &s;
        let of = |n: i32| Vec::from_iter_in(0..n, s);
        assert_eq!(<[i32; 3]>::try_from(of(3)), Ok([0, 1, 2]));
        assert_eq!(<[i32; 3]>::try_from(of(4)).unwrap_err(), [0, 1, 2, 3]);
        assert_eq!(<[i32; 2]>::try_from(of(2).into_node_vec()), Ok([0, 1]));
        let slice: &mut [i32] = of(2).into();
        let shared: &[i32] = of(2).into_node_vec().into();
        let boxed: Box<'_, [i32]> = of(2).into();
        assert!(*slice == [0, 1] && *shared == [0, 1] && *boxed == [0, 1]);
        assert_eq!(std::vec::Vec::from(of(3)), [0, 1, 2]);
        assert_eq!(std::borrow::Cow::Borrowed(&[0, 1][..]), of(2));
        assert_eq!(Vec::from_elem_in('a', 2, s), ['a', 'a']);
        assert_eq!(Vec::try_from_elem_in('a', 2, s).unwrap().capacity(), 2);
        assert_eq!(Vec::try_from_array_in([1, 2], s).unwrap().capacity(), 2);
        let words = || {
            let mut words = s.owned_vec();
            words.extend(["ebb", "flow"].map(std::string::String::from));
            words
        };
        assert_eq!(<[_; 2]>::try_from(words()).unwrap().concat(), "ebbflow");
        assert_eq!(<[_; 3]>::try_from(words()).unwrap_err(), ["ebb", "flow"]);
        assert_eq!(std::vec::Vec::from(words()).concat(), "ebbflow");
        assert_eq!(Box::from(words()).concat(), "ebbflow");
        let mut numbers = s.owned_vec::<i32>();
        numbers.extend(&[1, 2]);
        numbers.extend([3].iter());
        assert_eq!(numbers, [1, 2, 3]);
        let text = String::from_str_in("ebb", s);
        let bytes: Vec<'_, '_, u8> = text.into();
        assert_eq!(String::try_from(bytes).unwrap(), "ebb");
        assert!(String::try_from(Vec::from_array_in([0xFF], s)).is_err());
        let (start, len, capacity) = String::from_str_in("ebb", s).into_raw_parts();
        assert_eq!((len, capacity), (3, 3));
        // SAFETY: the parts of a string in `s`, which is not used again.
        let text = unsafe { String::from_raw_parts_in(start, len, capacity, s) };
        let text: &mut str = text.into();
        assert_eq!(text, "ebb");
    }
    let mut grown = s.grow_vec();
    grown.extend([1, 2]);
    assert_eq!(<[i32; 2]>::try_from(grown).ok(), Some([1, 2]));
    let mut grown = s.grow_vec();
    grown.push(1);
    let grown: &[i32] = grown.into();
    let mut words = s.owned_grow_vec();
    words.push(std::string::String::from("ebb"));
    assert_eq!(Box::from(words).concat(), "ebb");
    let mut text = s.grow_string();
    text.push_str("ebb");
    let text: &str = text.into();
    assert_eq!((grown, text), (&[1][..], "ebb"));
}

fn both_empty(ours: &mut Vec<'_, '_, i32>) {
    ours.clear();
    assert!(ours.is_empty() && ours.pop().is_none());
}
