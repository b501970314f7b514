//! The record of a run: what the recorder writes and the adviser reads.
//!
//! Of each process there is a record; those of a program are kept one behind another. A record is a header of [`HEADER`] bytes and a sequence of entries, in words of eight bytes in the
//! machine's order. The first word of an entry holds its kind and its length. [`header::LEN`] counts the
//! bytes that are complete, so a program that is killed leaves a record that ends earlier, and no
//! broken one. An entry's kind, and the number of its words, never change within a version.

/// The first eight bytes of a record.
pub const MAGIC: [u8; 8] = *b"EBBADVIS";

/// The version of the format that this build writes and reads.
pub const VERSION: u64 = 3;

/// The bytes before the first entry.
pub const HEADER: usize = 128;

/// The words of the header, by index.
pub mod header {
    /// [`MAGIC`](super::MAGIC).
    pub const MAGIC: usize = 0;
    /// [`VERSION`](super::VERSION).
    pub const VERSION: usize = 1;
    /// The bytes of the file that are complete, the header included.
    pub const LEN: usize = 2;
    /// The process that was recorded.
    pub const PID: usize = 3;
    /// The cycle counter when recording began.
    pub const START_TICKS: usize = 4;
    /// The time of day then, in nanoseconds.
    pub const START_NANOSECONDS: usize = 5;
    /// The cycle counter at the latest entry.
    pub const LATEST_TICKS: usize = 6;
    /// The time of day then, in nanoseconds.
    pub const LATEST_NANOSECONDS: usize = 7;
    /// The ticks that the recorder itself took.
    pub const SPENT_TICKS: usize = 8;
    /// The children of `fork` that have records of their own, if they allocate.
    pub const FORKS: usize = 9;
    /// The time of the processor that this process had taken when recording began, in nanoseconds.
    pub const START_PROCESSOR: usize = 10;
    /// The same at the end, or at the latest entry.
    pub const LATEST_PROCESSOR: usize = 11;
    /// The ticks from the beginning to the end of all recording, with those in which the thread waited
    /// for the processor.
    pub const INSIDE_TICKS: usize = 12;
    /// The cycle counter when the program began that this process, or one of which it is a copy by `fork`,
    /// has loaded: the same in all of these.
    pub const FAMILY: usize = 13;
    /// The children of `fork` that record nothing.
    pub const LEFT_OUT: usize = 14;
}

/// An entry of a record. A block's `id` is the number of its [`Birth`](Entry::Birth), from 0. `high`
/// is the shallowest position of the stack, as an address, in all calls of the allocator by this
/// thread since its previous entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'r> {
    /// Code that is mapped at `start..end`; its file's address 0 is at `base`.
    Module {
        /// The address that belongs to address 0 of the file.
        base: u64,
        /// Where its code begins.
        start: u64,
        /// Where it ends.
        end: u64,
        /// The path of the file. The program itself is the first.
        path: &'r [u8],
    },
    /// A frame of some stacks: code that is to return to `address`, called by the frame `parent`.
    Frame {
        /// The number of the frame, from 1.
        id: u64,
        /// The frame that called it; 0 if it is the outermost.
        parent: u64,
        /// The address to which its callee returns.
        address: u64,
        /// The bytes between the end of this frame and that of its parent.
        depth: u64,
    },
    /// A block was allocated that represents `weight` blocks.
    Birth {
        /// The cycle counter.
        ticks: u64,
        /// The thread.
        thread: u64,
        /// The innermost frame of its stack.
        frame: u64,
        /// Where the outermost frame of the stack ends.
        base: u64,
        /// The bytes asked for.
        size: u64,
        /// The mean number of blocks between two that are recorded.
        weight: u64,
        /// The number of outermost frames that are the same calls as in the stack of the thread's
        /// previous recorded block, as far as their callers tell.
        kept: u64,
        /// See [`Entry`].
        high: u64,
        /// The number of blocks since that one, or since the thread's first, this one included.
        distance: u64,
    },
    /// A recorded block was freed.
    Death {
        /// The block.
        id: u64,
        /// The cycle counter.
        ticks: u64,
        /// The thread that freed it.
        thread: u64,
        /// The number of outermost frames of its stack that are the same calls now, as far as their
        /// callers tell.
        kept: u64,
        /// See [`Entry`].
        high: u64,
        /// Where the innermost of these frames runs now; 0 if it is not known, as in another thread.
        place: u64,
        /// The number of blocks since the latest recorded one of the thread that freed it.
        since: u64,
    },
    /// A recorded block was resized.
    Resize {
        /// The block.
        id: u64,
        /// The new size in bytes.
        size: u64,
    },
    /// The time that the program's own allocator took for one block, in ticks.
    Cost {
        /// Whether it was freed, not allocated.
        is_free: bool,
        /// The bytes asked for; 0 for a free.
        size: u64,
        /// The ticks.
        ticks: u64,
        /// The mean number of blocks between two that are recorded.
        weight: u64,
    },
    /// The thread of a recorded block allocated some more. There are several for one, each four times as
    /// far away, as long as there are calls that may end.
    Next {
        /// The recorded block.
        id: u64,
        /// The number of blocks since, this one included.
        gap: u64,
        /// The number of outermost frames of its stack that are the same calls now, as far as their
        /// callers tell.
        kept: u64,
        /// See [`Entry`].
        high: u64,
        /// The number of blocks before the next recorded one.
        last: u64,
    },
    /// A thread ended the process.
    End {
        /// The thread.
        thread: u64,
        /// The number of blocks since its latest recorded one.
        distance: u64,
    },
}

/// The kinds of [`Entry`], as they are stored.
pub mod kind {
    /// [`Entry::Module`](super::Entry::Module).
    pub const MODULE: u64 = 1;
    /// [`Entry::Frame`](super::Entry::Frame).
    pub const FRAME: u64 = 2;
    /// [`Entry::Birth`](super::Entry::Birth).
    pub const BIRTH: u64 = 3;
    /// [`Entry::Death`](super::Entry::Death).
    pub const DEATH: u64 = 4;
    /// [`Entry::Resize`](super::Entry::Resize).
    pub const RESIZE: u64 = 5;
    /// [`Entry::Cost`](super::Entry::Cost).
    pub const COST: u64 = 6;
    /// [`Entry::Next`](super::Entry::Next).
    pub const NEXT: u64 = 7;
    /// [`Entry::End`](super::Entry::End).
    pub const END: u64 = 8;
}

/// Why a record cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It does not begin like a record.
    NotARecord,
    /// It has this version, and not [`VERSION`].
    Version(u64),
    /// The entry at this byte has a kind or a length that no entry has, names a frame that no entry
    /// before it has described, tells of no later block, or is missing.
    Broken(usize),
}

/// A record in memory.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    bytes: &'r [u8],
}

impl<'r> Record<'r> {
    /// Checks the header.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if this is no record, one of another version, or the beginning of one.
    pub fn new(bytes: &'r [u8]) -> Result<Record<'r>, Unreadable> {
        if bytes.len() < HEADER || bytes[..8] != MAGIC {
            return Err(Unreadable::NotARecord);
        }
        let record = Record { bytes };
        match record.header(header::VERSION) {
            VERSION if record.header(header::LEN) > bytes.len() as u64 => {
                Err(Unreadable::Broken(bytes.len()))
            }
            VERSION => Ok(record),
            other => Err(Unreadable::Version(other)),
        }
    }

    /// The records of a file, in which one follows on another.
    ///
    /// # Errors
    ///
    /// As of [`new`](Record::new).
    pub fn all(mut bytes: &'r [u8]) -> Result<Vec<Record<'r>>, Unreadable> {
        let mut records = Vec::new();
        loop {
            let record = Record::new(bytes)?;
            let len = usize::try_from(record.header(header::LEN)).unwrap_or(0);
            bytes = bytes.get(len.max(HEADER)..).unwrap_or_default();
            records.push(record);
            if bytes.is_empty() {
                return Ok(records);
            }
        }
    }

    /// The complete bytes of the record.
    #[must_use]
    pub fn complete(&self) -> &'r [u8] {
        let len = usize::try_from(self.header(header::LEN)).unwrap_or(0);
        self.bytes.get(..len).unwrap_or(self.bytes)
    }

    /// A word of the [`header`].
    #[must_use]
    pub fn header(&self, index: usize) -> u64 {
        word(self.bytes, index * 8).unwrap_or(0)
    }

    /// The entries, in the order in which they were written, up to the first one that is broken.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry<'r>, Unreadable>> + use<'r> {
        let bytes = self.bytes;
        let end = usize::try_from(self.header(header::LEN)).unwrap_or(0).min(bytes.len());
        let mut at = HEADER;
        let mut frames = 0;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let start = at;
            // 56 bits, in units of eight bytes.
            let len = word(bytes, at).map_or(0, |first| first >> 8).saturating_mul(8);
            at = usize::try_from(len).unwrap_or(end).saturating_add(start);
            let entry = bytes.get(start..at.min(end)).and_then(entry);
            let entry = entry.filter(|entry| match entry {
                Entry::Frame { id, parent, .. } => {
                    frames += 1;
                    *id == frames && parent < id
                }
                Entry::Birth { frame, .. } => *frame <= frames,
                Entry::Next { gap, .. } => *gap > 0,
                _ => true,
            });
            if entry.is_none() {
                at = end;
            }
            Some(entry.ok_or(Unreadable::Broken(start)))
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at + 8)?;
    Some(u64::from_ne_bytes(eight.try_into().ok()?))
}

/// Reads one entry, which has exactly these bytes.
fn entry(bytes: &[u8]) -> Option<Entry<'_>> {
    let at = |index: usize| word(bytes, index * 8);
    let first = at(0)?;
    Some(match first & 0xFF {
        kind::MODULE => {
            let len = usize::try_from(at(4)?).ok()?;
            let path = bytes.get(40..)?.get(..len)?;
            Entry::Module { base: at(1)?, start: at(2)?, end: at(3)?, path }
        }
        kind::FRAME => Entry::Frame { id: at(1)?, parent: at(2)?, address: at(3)?, depth: at(4)? },
        kind::BIRTH => Entry::Birth {
            ticks: at(1)?,
            thread: at(2)?,
            frame: at(3)?,
            base: at(4)?,
            size: at(5)?,
            weight: at(6)?,
            kept: at(7)?,
            high: at(8)?,
            distance: at(9)?,
        },
        kind::DEATH => {
            let (id, ticks, thread) = (at(1)?, at(2)?, at(3)?);
            let (kept, high, place, since) = (at(4)?, at(5)?, at(6)?, at(7)?);
            Entry::Death { id, ticks, thread, kept, high, place, since }
        }
        kind::RESIZE => Entry::Resize { id: at(1)?, size: at(2)? },
        kind::COST => {
            Entry::Cost { is_free: at(1)? != 0, size: at(2)?, ticks: at(3)?, weight: at(4)? }
        }
        kind::NEXT => {
            Entry::Next { id: at(1)?, gap: at(2)?, kept: at(3)?, high: at(4)?, last: at(5)? }
        }
        kind::END => Entry::End { thread: at(1)?, distance: at(2)? },
        _ => return None,
    })
}
