//! The spare chunks, which no cursor uses, by size.
//!
//! They form a list of classes, the largest first. A class is a list of chunks whose sizes have the
//! same highest bit, so there are no more classes than bits in a word. `next` links the chunks of a
//! class; `list_start` of its first chunk is the first chunk of the next class. A search looks at a
//! few chunks of each class, so its time does not depend on the number of chunks.

use super::{
    control::ControlRef,
    header::{ChunkRef, Header, Link, Room},
};

/// The number of chunks of a class, or of an arena's own list, among which the largest is searched.
pub(super) const SEARCHED: usize = 8;

/// The class of a chunk.
fn class(chunk: &Header) -> u32 {
    class_of(chunk.block_size())
}

/// The class of chunks of this size, which is not zero. `ilog2` has code to panic, which would be
/// the only such code in the C library.
fn class_of(size: usize) -> u32 {
    size.checked_ilog2().unwrap_or(0)
}

/// The rest of a class, and the classes behind it.
pub(crate) struct SpareChunks<'c> {
    chunk: Option<ChunkRef<'c>>,
    class: Option<ChunkRef<'c>>,
}

impl<'c> Iterator for SpareChunks<'c> {
    type Item = ChunkRef<'c>;

    fn next(&mut self) -> Option<ChunkRef<'c>> {
        if self.chunk.is_none() {
            self.chunk = self.class;
            self.class = self.class?.header().list_start.get();
        }
        let chunk = self.chunk?;
        self.chunk = chunk.next();
        Some(chunk)
    }
}

impl<'c> ControlRef<'c> {
    /// The spare chunks.
    pub(crate) fn spare_chunks(self) -> SpareChunks<'c> {
        SpareChunks { chunk: None, class: self.get().spare.get() }
    }

    /// Makes a chunk spare. It is in no list, and has no live bytes.
    pub(super) fn make_spare(self, chunk: ChunkRef<'c>) {
        debug_assert!(!chunk.is_head(), "the head stays in the arena's own list");
        chunk.forget_bound_behind();
        self.spare_bytes.set(self.spare_bytes.get() + chunk.block_size());
        let mut link = &self.get().spare;
        let mut next = link.get();
        while let Some(first) = next.filter(|first| class(first) > class(&chunk)) {
            link = &first.header().list_start;
            next = link.get();
        }
        match next.filter(|first| class(first) == class(&chunk)) {
            Some(first) => {
                chunk.list_start.set(first.list_start.take());
                chunk.next.set(Some(first));
            }
            None => {
                chunk.list_start.set(next);
                chunk.next.set(None);
            }
        }
        link.set(Some(chunk));
    }

    /// Asserts the order of the classes and their sum, in debug builds.
    pub(super) fn check_spare(self) {
        if !cfg!(debug_assertions) {
            return;
        }
        let bytes = self.spare_chunks().map(|chunk| chunk.block_size()).sum::<usize>();
        debug_assert_eq!(bytes, self.spare_bytes.get(), "L6: the sum of the spare blocks");
        let mut larger = u32::MAX;
        let mut next = self.get().spare.get();
        while let Some(first) = next {
            debug_assert!(class(&first) < larger, "the largest class comes first");
            larger = class(&first);
            for chunk in first.behind() {
                debug_assert_eq!(class(&chunk), larger, "a class has chunks of its sizes");
                debug_assert!(chunk.list_start.get().is_none(), "only a class's first one links");
            }
            next = first.header().list_start.get();
        }
    }

    /// Makes a list of chunks without live bytes spare.
    pub(super) fn make_all_spare(self, mut list: Option<ChunkRef<'c>>) {
        while let Some(chunk) = list {
            list = chunk.next();
            self.make_spare(chunk);
        }
    }

    /// Takes the largest spare chunk of at most `most` bytes, header included, that has room; a capacity
    /// of `least` bytes is enough for that. Looks at few chunks of each class, so it may overlook one.
    pub(super) fn take_spare(self, most: usize, least: usize, room: &Room) -> Option<ChunkRef<'c>> {
        self.find_spare(SEARCHED, most, true, least, room)
    }

    /// Takes any spare chunk that has room, if one has a capacity of `least` bytes. May look at all of
    /// them.
    pub(super) fn take_any_spare(self, least: usize, room: &Room) -> Option<ChunkRef<'c>> {
        self.find_spare(usize::MAX, usize::MAX, false, least, room)
    }

    /// The size of a spare chunk of less than `size` bytes: the largest one among the first few of their
    /// class, or 0.
    pub(super) fn size_below(self, size: usize) -> usize {
        let mut class = self.get().spare.get();
        while let Some(first) = class {
            let mut largest = 0;
            for chunk in first.onwards().take(SEARCHED) {
                if chunk.block_size() < size {
                    largest = largest.max(chunk.block_size());
                }
            }
            if largest > 0 {
                return largest;
            }
            class = first.header().list_start.get();
        }
        0
    }

    /// Takes the spare chunks that `is_taken` accepts, the largest class first, and returns them as a
    /// list.
    pub(super) fn take_all_spare(
        self,
        is_taken: &mut dyn FnMut(ChunkRef<'c>) -> bool,
    ) -> Option<ChunkRef<'c>> {
        let mut taken = None;
        self.spare_bytes.set(0);
        let mut class = self.get().spare.take();
        while let Some(first) = class {
            class = first.header().list_start.take();
            let mut next = Some(first);
            while let Some(chunk) = next {
                next = chunk.header().next.take();
                if is_taken(chunk) {
                    chunk.next.set(taken);
                    taken = Some(chunk);
                } else {
                    self.make_spare(chunk);
                }
            }
        }
        taken
    }

    fn find_spare(
        self,
        searched: usize,
        most: usize,
        largest: bool,
        least: usize,
        room: &Room,
    ) -> Option<ChunkRef<'c>> {
        let mut link = &self.get().spare;
        while let Some(first) = link.get() {
            let is_small = class(&first) <= class_of(most);
            if let Some(chunk) =
                is_small.then(|| unlink(link, searched, most, largest, least, room)).flatten()
            {
                let next_class = first.header().list_start.take();
                match link.get() {
                    Some(first) => first.list_start.set(next_class),
                    None => link.set(next_class),
                }
                self.spare_bytes.set(self.spare_bytes.get() - chunk.block_size());
                return Some(chunk);
            }
            link = &first.header().list_start;
        }
        None
    }
}

/// Removes a chunk of at most `most` bytes that has room from the first `searched` of the list that
/// begins at `link`: the first, or the largest if `largest` is set. A capacity of `least` bytes is enough;
/// a chunk that is smaller, but happens to lie at a suitable address, may be overlooked.
///
/// A search that looks at all chunks and fails leaves a bound in the first one, and a search that
/// meets a bound stops there. So n searches in n chunks do not take n² steps.
pub(super) fn unlink<'c>(
    mut link: &'c Link,
    searched: usize,
    most: usize,
    largest: bool,
    least: usize,
    room: &Room,
) -> Option<ChunkRef<'c>> {
    let start = link;
    let mut found: Option<(&Link, ChunkRef<'c>)> = None;
    let (mut left, mut greatest) = (searched, 0);
    while let Some(chunk) = link.get() {
        let bound = chunk.bound_behind().filter(|&bound| bound < least);
        if left == 0 || bound.is_some() {
            greatest = bound.map(|bound| greatest.max(bound)).unwrap_or(usize::MAX);
            break;
        }
        greatest = greatest.max(chunk.capacity());
        let is_better = found.is_none_or(|(_, best)| chunk.capacity() > best.capacity());
        if is_better && chunk.block_size() <= most && room.start_in(&chunk).is_some() {
            found = Some((link, chunk));
            if !largest {
                break;
            }
        }
        link = &chunk.header().next;
        left -= 1;
    }
    let Some((link, chunk)) = found else {
        if let Some(first) = start.get().filter(|_| greatest < least) {
            first.set_bound_behind(greatest);
        }
        return None;
    };
    link.set(chunk.header().next.take());
    chunk.forget_bound_behind();
    Some(chunk)
}
