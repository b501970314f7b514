//! Arenas that run destructors, results of children kept in their parents, and roots of a pool,
//! compared with boxes and vectors of the standard library.

use super::input::Input;
use ebbtide::{Arena, DropArena, Pool, Scope, TypedArena};
use std::rc::Rc;

/// A value with a destructor: each holds a count of its ledger.
#[derive(Clone)]
struct Counted {
    number: u32,
    _ledger: Rc<()>,
}

impl Counted {
    fn new(number: u32, ledger: &Rc<()>) -> Self {
        Counted { number, _ledger: ledger.clone() }
    }
}

/// Values of one type, in batches, under an iterator that allocates and one that panics.
fn typed(input: &mut Input<'_>) {
    let ledger = Rc::new(());
    let mut arena = match input.below(3) {
        0 => TypedArena::new(),
        _ => TypedArena::with_capacity(input.size()),
    };
    let mut model = Vec::new();
    while !input.is_empty() {
        let number = model.len() as u32;
        match input.below(12) {
            0 => {
                let count = input.size();
                let values = (number..).take(count).map(|number| Counted::new(number, &ledger));
                let batch = match input.below(3) {
                    0 => arena.alloc_extend(values),
                    1 => arena.alloc_extend(values.filter(|_| true)),
                    _ => arena.try_alloc_extend(values).expect("the heap has memory"),
                };
                assert!(batch.iter().map(|value| value.number).eq((number..).take(count)));
                model.extend((number..).take(count));
            }
            1 => {
                // The iterator allocates a value of its own before each of the batch.
                let inner = input.below(4) as u32;
                let values = (0..inner).map(|index| {
                    arena.alloc(Counted::new(number + index, &ledger));
                    Counted::new(number + inner + index, &ledger)
                });
                assert_eq!(arena.alloc_extend(values).len(), inner as usize);
                model.extend(number..number + 2 * inner);
            }
            2 => arena.reserve(input.size()),
            3 => {
                let mut seen: Vec<u32> = arena.iter_mut().map(|value| value.number).collect();
                seen.sort_unstable();
                assert_eq!(seen, model);
            }
            4 => {
                arena.clear();
                model.clear();
            }
            5 => {
                let mut values: Vec<u32> = arena.into_vec().iter().map(|v| v.number).collect();
                values.sort_unstable();
                assert_eq!(values, model);
                (arena, model) = (TypedArena::new(), Vec::new());
            }
            _ => {
                let value = arena.alloc(Counted::new(number, &ledger));
                assert_eq!(value.number, number);
                model.push(number);
            }
        }
        assert_eq!((arena.len(), Rc::strong_count(&ledger)), (model.len(), model.len() + 1));
        if input.below(16) == 0 {
            break;
        }
    }
    drop(arena);
    assert_eq!(Rc::strong_count(&ledger), 1, "a destructor did not run, or twice");
}

/// Values of many types.
fn mixed(input: &mut Input<'_>) {
    let ledger = Rc::new(());
    let mut arena = DropArena::from(Arena::with_chunk_size(input.size()));
    while !input.is_empty() && input.below(24) != 0 {
        let mut alive = 0;
        let mut texts: Vec<(&mut str, String)> = Vec::new();
        let mut lists: Vec<(&mut [Counted], u32)> = Vec::new();
        for turn in 0..input.below(40) as u32 {
            match input.below(5) {
                0 => {
                    let text = input.text();
                    texts.push((arena.alloc_str(&text), text));
                }
                1 => {
                    let values = (0..turn).map(|_| Counted::new(turn, &ledger));
                    lists.push((arena.alloc_slice_from_iter(values), turn));
                    alive += turn as usize;
                }
                2 => assert_eq!(arena.alloc([u64::from(turn); 5])[4], u64::from(turn)),
                3 => {
                    arena.alloc(vec![Counted::new(turn, &ledger); 3]);
                    alive += 3;
                }
                _ => {
                    assert_eq!(arena.alloc(Counted::new(turn, &ledger)).number, turn);
                    alive += 1;
                }
            }
            assert_eq!(Rc::strong_count(&ledger), alive + 1);
        }
        assert!(texts.iter().all(|(text, model)| **text == **model), "texts");
        for (list, turn) in &lists {
            assert!(list.len() == *turn as usize && list.iter().all(|v| v.number == *turn));
        }
        arena.reset();
        assert_eq!(Rc::strong_count(&ledger), 1);
    }
}

/// What children made and their parents kept.
fn kept<'a>(s: &mut Scope<'a>, input: &mut Input<'_>, depth: usize) {
    let mut words: Vec<(&'a mut u64, u64)> = Vec::new();
    let mut lists: Vec<(&'a mut [u32], Vec<u32>)> = Vec::new();
    let mut texts: Vec<(&'a str, String)> = Vec::new();
    while !input.is_empty() {
        let (scratch, size) = (input.size(), input.size());
        let value = u64::from(input.byte());
        let fill = |s: &Scope<'_>| {
            s.alloc_slice_fill_copy(scratch, value as u8);
        };
        match input.below(10) {
            0 | 1 => {
                let word = s.keep(|s| {
                    fill(s);
                    let word = s.alloc(value);
                    fill(s);
                    word
                });
                words.push((word, value));
            }
            2 | 3 => {
                let model: Vec<u32> = (0..size as u32).map(|n| n ^ value as u32).collect();
                let list = s.keep_slice(|s| {
                    fill(s);
                    let mut list = s.grow_vec();
                    list.extend(model.iter().copied().filter(|_| true));
                    list.into_slice()
                });
                lists.push((list, model));
            }
            4 => {
                let model = input.text();
                let text = s.keep_str(|s| {
                    let mut text = s.string();
                    for part in model.split_inclusive('ß') {
                        text.push_str(part);
                        fill(s);
                    }
                    text.into_str()
                });
                texts.push((text, model));
            }
            5 | 6 => {
                let model = input.text();
                let used = s.stats().used;
                let fails = input.flag();
                let text = s.transaction::<&'static str, _>(|s| {
                    let text = s.alloc_str(&model);
                    fill(s);
                    if fails { Err(()) } else { Ok(&*text) }
                });
                match text {
                    Ok(text) => texts.push((text, model)),
                    Err(()) => assert_eq!(s.stats().used, used, "a failed one leaves nothing"),
                }
            }
            7 if depth < 4 => kept(&mut s.scope(), input, depth + 1),
            8 => break,
            _ => words.push((s.alloc(value), value)),
        }
        assert!(words.iter().all(|(word, model)| **word == *model), "words");
        assert!(lists.iter().all(|(list, model)| **list == **model), "lists");
        assert!(texts.iter().all(|(text, model)| text == model), "texts");
    }
}

/// What outlives the loans of a pool's roots.
fn pooled(input: &mut Input<'_>) {
    let mut pool = Pool::with_chunk_size(input.size());
    while !input.is_empty() && input.below(8) != 0 {
        let (mut roots, mut left) = (Vec::new(), Vec::new());
        for _ in 0..input.below(60) {
            match input.below(6) {
                0 => roots.push(pool.root()),
                1 if !roots.is_empty() => drop(roots.swap_remove(input.below(256) % roots.len())),
                2 => {
                    let size = input.size();
                    assert_eq!(pool.scope(|s| s.alloc_slice_fill_copy(size, 1u8).len()), size);
                }
                _ => {
                    let (text, index) = (input.text(), input.below(256));
                    let Some(root) = roots.get(index % roots.len().max(1)) else { continue };
                    left.push((root.alloc_str(&text), text));
                }
            }
        }
        drop(roots);
        assert!(left.iter().all(|(text, model)| **text == **model), "roots");
        pool.reset();
    }
}

/// Runs the operations encoded in `bytes`.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    while !input.is_empty() {
        match input.below(4) {
            0 => typed(&mut input),
            1 => mixed(&mut input),
            2 => {
                let mut arena = Arena::with_chunk_size(input.size());
                kept(&mut arena.scope(), &mut input, 0);
            }
            _ => pooled(&mut input),
        }
    }
}
