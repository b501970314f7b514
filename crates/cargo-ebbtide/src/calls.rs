//! The calls around the recorded blocks, with those that are inlined.

use crate::{
    lifetimes::{Block, Lifetimes},
    symbols::{Place, Symbols},
};
use std::{collections::HashMap, rc::Rc};

/// A call around a block.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) place: Place,
    /// The index of its frame, from the outermost on, and where that stands.
    pub(crate) frame: usize,
    pub(crate) address: u64,
}

/// The calls of all stacks.
pub(crate) struct Calls<'a> {
    lifetimes: &'a Lifetimes,
    symbols: &'a Symbols,
    known: HashMap<usize, Rc<[Call]>>,
}

impl Calls<'_> {
    pub(crate) fn new<'a>(lifetimes: &'a Lifetimes, symbols: &'a Symbols) -> Calls<'a> {
        Calls { lifetimes, symbols, known: HashMap::new() }
    }

    /// The calls of the stack with this innermost frame, from the outermost on.
    pub(crate) fn of(&mut self, frame: usize) -> Rc<[Call]> {
        let (lifetimes, symbols) = (self.lifetimes, self.symbols);
        let path = self.known.entry(frame).or_insert_with(|| {
            let frames = lifetimes.path(frame).into_iter().enumerate();
            let calls = frames.flat_map(|(index, frame)| {
                let address = lifetimes.frames[frame].address;
                let places = symbols.places(&lifetimes.modules, address);
                let call = |place: &Place| Call { place: place.clone(), frame: index, address };
                places.iter().map(call).collect::<Vec<_>>()
            });
            calls.collect()
        });
        Rc::clone(path)
    }

    /// The number of a block's outermost calls that still ran when it was freed. In the innermost frame
    /// that did, an inlined call has ended if the code is no longer in it.
    pub(crate) fn alive(&mut self, block: &Block) -> usize {
        let Some(running) = block.alive.checked_sub(1) else { return 0 };
        let path = self.of(block.frame);
        let outer = path.partition_point(|call| call.frame < running);
        let own = path[outer..].iter().take_while(|call| call.frame == running);
        let now = self.symbols.places(&self.lifetimes.modules, block.place);
        let same = own.zip(now.iter()).take_while(|(call, now)| call.place.is_in_call_of(now));
        (outer + same.count().max(1)).min(path.len())
    }
}
