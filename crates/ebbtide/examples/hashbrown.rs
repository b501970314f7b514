//! Maps and sets in a scope: an index of words, rebuilt in every iteration without calling the
//! heap.
//!
//! `cargo run -p ebbtide --example hashbrown --features hashbrown`

use ebbtide::{
    Arena, Scope,
    collections::{Map, Set, Vec as List},
};

const TEXT: &str = "\
Full fathom five thy father lies
Of his bones are coral made
Those are pearls that were his eyes
Nothing of him that doth fade
But doth suffer a sea-change
Into something rich and strange";

/// The positions of each word. Keys, lists and the table are in the scope.
fn index<'s, 'a>(s: &'s Scope<'a>, text: &str) -> Map<'s, 'a, &'a str, List<'s, 'a, usize>> {
    let mut index: Map<'_, '_, &str, List<'_, '_, usize>> = s.map();
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split_whitespace() {
            let word: &str = s.alloc_str(word);
            index.entry(word).or_insert_with(|| s.vec()).push(number);
        }
    }
    index
}

fn main() {
    let mut arena = Arena::new();
    for turn in 1..=3 {
        let s = arena.scope();
        let index = index(&s, TEXT);

        let repeated: Set<'_, '_, &str> = {
            // A set that grows in the same scope, beside the map.
            let mut repeated = s.set();
            repeated
                .extend(index.iter().filter(|(_, lines)| lines.len() > 1).map(|(word, _)| *word));
            repeated
        };
        let mut words = s.vec();
        words.extend(repeated.iter().copied());
        words.sort_unstable();

        println!("turn {turn}: {} words, {}", index.len(), s.stats());
        for word in words {
            println!("  {word:<6} in lines {:?}", index[word]);
        }

        // hashbrown's own types also accept the scope, with any hasher.
        let mut lengths = ebbtide::hashbrown_017::HashMap::<
            _,
            _,
            ebbtide::hashbrown_017::DefaultHashBuilder,
            _,
        >::new_in(&s);
        for word in index.keys() {
            *lengths.entry(word.len()).or_insert(0) += 1;
        }
        assert_eq!(lengths.values().sum::<usize>(), index.len());
        assert_eq!(index["his"].as_slice(), [2, 3]);
    } // the memory of all of it is free again, and the next turn finds it
    assert_eq!(arena.stats().used, 0);
}
