//! A hash table in a scope. Keys are strings and are stored next to their values. Open addressing:
//! when three quarters of the slots are full, their number is doubled. The old slots are freed with
//! the scope. Entries never move.

use std::hash::BuildHasher;

use ebbtide::Scope;

use crate::hash::FoldState;

pub(crate) struct Table<'a, V> {
    scope: &'a Scope<'a>,
    /// The length is a power of two. There is always a free slot.
    slots: &'a mut [Option<Slot<'a, V>>],
    len: usize,
}

struct Slot<'a, V> {
    hash: u64,
    entry: &'a mut Entry<'a, V>,
}

struct Entry<'a, V> {
    key: &'a str,
    value: V,
}

const FIRST_SLOTS: usize = 64;

impl<'a, V> Table<'a, V> {
    pub(crate) fn new(scope: &'a Scope<'a>) -> Self {
        Self { scope, slots: scope.alloc_slice_fill_with(FIRST_SLOTS, |_| None), len: 0 }
    }

    /// The value of `key`. If there is none, inserts the value of `first` and copies `key` into the
    /// scope.
    pub(crate) fn entry(&mut self, key: &str, first: impl FnOnce() -> V) -> &mut V {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let hash = FoldState::default().hash_one(key);
        let place = place(self.slots, hash, |entry| entry.key == key);
        let slot = &mut self.slots[place];
        if slot.is_none() {
            self.len += 1;
        }
        let slot = slot.get_or_insert_with(|| {
            let key = self.scope.alloc_str(key);
            Slot { hash, entry: self.scope.alloc(Entry { key, value: first() }) }
        });
        &mut slot.entry.value
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &V)> {
        self.slots.iter().flatten().map(|slot| (slot.entry.key, &slot.entry.value))
    }

    fn grow(&mut self) {
        let roomy = self.scope.alloc_slice_fill_with(self.slots.len() * 2, |_| None);
        for slot in self.slots.iter_mut().filter_map(Option::take) {
            let place = place(roomy, slot.hash, |_| false);
            roomy[place] = Some(slot);
        }
        self.slots = roomy;
    }
}

/// The index of the slot with this hash whose entry satisfies `is_it`, or of the free slot for it.
fn place<V>(
    slots: &[Option<Slot<'_, V>>],
    hash: u64,
    is_it: impl Fn(&Entry<'_, V>) -> bool,
) -> usize {
    let mask = slots.len() - 1;
    let mut place = low_bits(hash) & mask;
    while slots[place].as_ref().is_some_and(|slot| slot.hash != hash || !is_it(slot.entry)) {
        place = (place + 1) & mask;
    }
    place
}

#[allow(clippy::cast_possible_truncation, reason = "as many low bits as the table may need")]
fn low_bits(hash: u64) -> usize {
    hash as usize
}
