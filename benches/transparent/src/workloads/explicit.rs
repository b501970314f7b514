//! Programs with explicit arenas: those of `benches/src/workloads/real`, and the stages of the tour. In
//! other contestants than [`Explicit`](crate::Explicit), the same code over the heap.

use super::json;
use crate::{
    Arena,
    hash::Fold,
    input::{Input, Reader},
    modes,
    stages::{Memory, Stage},
};
use ebbtide::Scope;
use programs::{Ast, Intern, Json, Work};
use std::{alloc, alloc::Layout, cell::RefCell, fs, hash::Hasher as _, path::Path};

#[allow(dead_code)]
#[path = "../../../src/workloads/real/programs.rs"]
mod programs;

/// Memory for [`programs`].
pub(crate) trait Handle<'a> {
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T;
    fn alloc_str(&self, text: &str) -> &'a mut str;
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T];
}

impl<'a> Handle<'a> for Scope<'a> {
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        self.alloc(value)
    }

    fn alloc_str(&self, text: &str) -> &'a mut str {
        self.alloc_str(text)
    }

    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        self.alloc_slice_copy(values)
    }
}

/// A list of blocks of the heap, which are freed one by one. In this way van Kempen and Berger replace
/// regions by the heap.
#[derive(Default)]
struct Heap(RefCell<Vec<(*mut u8, Layout)>>);

impl Heap {
    #[allow(clippy::mut_from_ref, reason = "each value is new")]
    fn keep<T: ?Sized>(&self, value: Box<T>) -> &mut T {
        let layout = Layout::for_value(&*value);
        let value = Box::into_raw(value);
        self.0.borrow_mut().push((value.cast(), layout));
        // SAFETY: the value was in a box. It is freed by `clear`, which borrows the heap mutably, and
        // nothing else points to it until then but the list.
        unsafe { &mut *value }
    }

    fn clear(&mut self) {
        for (block, layout) in self.0.get_mut().drain(..).filter(|(_, layout)| layout.size() > 0) {
            // SAFETY: a box of this layout, which has not been freed, because the list loses it here.
            // It was made of a value without a destructor: `Handle` takes no others.
            unsafe { alloc::dealloc(block, layout) };
        }
    }
}

impl<'a> Handle<'a> for &'a Heap {
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        self.keep(Box::new(value))
    }

    fn alloc_str(&self, text: &str) -> &'a mut str {
        self.keep(text.into())
    }

    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        self.keep(values.into())
    }
}

/// Some of this repository's sources, up to this many bytes.
fn sources(mut bytes: usize) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/ebbtide/src");
    let entries = fs::read_dir(folder).expect("the sources are where this was compiled");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let texts = paths.iter().filter_map(|path| fs::read_to_string(path).ok());
    let fits = |text: &String| {
        let left = bytes.checked_sub(text.len());
        bytes = left.unwrap_or(bytes);
        left.is_some()
    };
    texts.filter(fits).collect()
}

pub(super) fn json<A: Arena>(scopes: usize, bytes: usize) -> impl FnMut() -> u64 {
    batch::<A>(scopes, Json::new(&sources(bytes)))
}

pub(super) fn ast<A: Arena>(scopes: usize, bytes: usize) -> impl FnMut() -> u64 {
    batch::<A>(scopes, Ast::new(sources(bytes)))
}

pub(super) fn intern<A: Arena>(scopes: usize, bytes: usize) -> impl FnMut() -> u64 {
    batch::<A>(scopes, Intern::new(sources(bytes)))
}

fn batch<A: Arena>(scopes: usize, work: impl Work) -> impl FnMut() -> u64 {
    let (mut arena, mut heap) = (ebbtide::Arena::new(), Heap::default());
    move || {
        for _ in 0..scopes {
            let result = if A::EXPLICIT {
                work.turn(&arena.scope())
            } else {
                let result = work.turn(&&heap);
                heap.clear();
                result
            };
            assert_eq!(result, work.expected());
        }
        work.expected() as u64
    }
}

pub(super) fn parse<A: Arena>(scopes: usize, size: usize) -> impl FnMut() -> u64 {
    let mut reader = Reader::new(usize::MAX);
    reader.add("document.json".to_owned(), json::document(size).0);
    stage::<A>(scopes, Stage::Parse, reader)
}

pub(super) fn group<A: Arena>(scopes: usize, bytes: usize) -> impl FnMut() -> u64 {
    stage::<A>(scopes, Stage::Group, words(bytes))
}

pub(super) fn chain<A: Arena>(scopes: usize, bytes: usize) -> impl FnMut() -> u64 {
    stage::<A>(scopes, Stage::Chain, words(bytes))
}

fn words(bytes: usize) -> Reader {
    let mut reader = Reader::new(bytes);
    sources(bytes).into_iter().for_each(|text| reader.add("source".to_owned(), text));
    reader
}

fn stage<A: Arena>(scopes: usize, stage: Stage, reader: Reader) -> Box<dyn FnMut() -> u64> {
    let input = reader.finish("a benchmark".to_owned()).expect("there are words");
    if A::EXPLICIT {
        Box::new(passes::<modes::scopes::Scopes>(scopes, stage, input))
    } else {
        Box::new(passes::<modes::heap::Heap>(scopes, stage, input))
    }
}

fn passes<M: Memory>(scopes: usize, stage: Stage, input: Input) -> impl FnMut() -> u64 {
    let mut memory = M::default();
    move || {
        let mut checksum = Fold::default();
        for _ in 0..scopes {
            stage.pass(&mut memory, &input, &mut checksum);
        }
        checksum.finish()
    }
}
