//! Short strings whose length is unknown to the compiler: of equal and of mixed lengths.

use crate::{
    contestants,
    harness::{Bench, Contestant, Target, contestant, observe},
    peers::{Handle, Peer},
};
use std::rc::Rc;

const COUNT: usize = 512;
const REPEATS: usize = 32;

pub fn run(bench: &mut Bench) {
    for len in [1, 3, 5, 8, 12, 16, 24, 32] {
        row(bench, &format!("small copies: strings of {len} bytes"), |_| len);
    }
    row(bench, "small copies: strings of 1 to 32 bytes, mixed", |n| (n * 7919) % 32 + 1);
}

fn row(bench: &mut Bench, name: &str, len: impl Fn(usize) -> usize) {
    let words: Rc<[String]> = (0..COUNT)
        .map(|n| (0..len(n)).map(|i| char::from(b'a' + ((n + i) % 26) as u8)).collect())
        .collect();
    bench.row(
        name,
        COUNT * REPEATS,
        contestants!(
            [Ebbtide EbbtideRoot + Limit]
            |P| copy::<P>(&words)
        ),
        &[Target::BestPeer(1.5)],
    );
}

fn copy<'a, P: Peer>(words: &Rc<[String]>) -> Contestant<'a> {
    let words = Rc::clone(words);
    let mut peer = P::with_capacity(COUNT * 40 + 4096);
    let handle = peer.open();
    let copies: Vec<&str> = words.iter().map(|word| &*handle.alloc_str(word)).collect();
    assert!(copies.iter().zip(&*words).all(|(copy, word)| copy == word), "{}", P::NAME);
    drop(copies);
    drop(handle);
    contestant(P::NAME, move || {
        for _ in 0..REPEATS {
            once(&mut peer, &words);
        }
    })
}

#[inline(never)]
fn once<P: Peer>(peer: &mut P, words: &[String]) {
    let handle = peer.open();
    for word in words {
        observe(handle.alloc_str(word));
    }
}
