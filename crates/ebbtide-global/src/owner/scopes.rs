//! How scopes begin and end.
//!
//! `calls`, `future` and `engine` call it. It writes the records of scopes and which one is the
//! innermost.

use super::{OUTSIDE, Owner, Ticket, switch::signed};
use crate::{
    figures::{Counted, Label, Usage},
    memory::{
        helper,
        run::{ChunkRef, Flushed, ScopeRef, UNLIMITED},
    },
    options::Options,
    scope::{bump::LEAD, mode::Mode},
    size::{CHUNK, SMALL},
};

impl Owner {
    /// Opens a scope. Returns `None` if that fails; requests are then served as before. Together
    /// with its end, an outermost scope costs about 3 nanoseconds and a nested one 40 to 60
    /// (`cargo run --release -p ebbtide-global --example scope_costs`).
    ///
    /// The first scope of each label allocates its counters from the program's global allocator.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let options = ebbtide_global::Options::new().max_size(1 << 10);
    /// let ticket = owner.enter(&options).expect("a started owner opens scopes");
    /// assert!(owner.alloc(std::alloc::Layout::new::<[u8; 2000]>()).is_null(), "it is too large");
    /// owner.leave(ticket);
    /// ```
    #[inline]
    pub fn enter(&self, options: &Options) -> Option<Ticket> {
        let label = options.label.map(|text| {
            Label::find_by_address(text).unwrap_or_else(|| Label::find_or_create(text))
        });
        let site = options.site_or(0);
        self.enter_counted(options, Counted { label, continues: false, site })
    }

    /// Like [`enter`](Owner::enter) with the default options, but an outermost scope usually takes
    /// fewer than ten instructions.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// assert!(owner.is_open());
    /// owner.leave(ticket);
    /// ```
    #[inline(always)]
    pub fn enter_default(&self) -> Option<Ticket> {
        self.enter_default_at(0)
    }

    /// Like [`enter_default`](Owner::enter_default), for a scope of this [site](Options::site).
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// // A front end passes an address in its caller.
    /// let ticket = owner.enter_default_at(1).expect("a new site is served");
    /// owner.leave(ticket);
    /// ```
    #[inline(always)]
    pub fn enter_default_at(&self, site: u32) -> Option<Ticket> {
        match self.enter_fast(site) {
            None => self.enter_default_slowly(site),
            ticket => ticket,
        }
    }

    /// Opens a scope with the default options, outermost or nested.
    #[inline(never)]
    pub(crate) fn enter_default_slowly(&self, site: u32) -> Option<Ticket> {
        if self.skips_again(site) {
            return None;
        }
        self.enter_counted(&Options::new(), Counted { site, ..Counted::default() })
    }

    /// Opens a fast scope: an outermost scope with the default options, in the cached chunk. `None`
    /// if another scope is open, there is no cached chunk, or the scope must ask whether it is skipped.
    #[inline(always)]
    pub(crate) fn enter_fast(&self, site: u32) -> Option<Ticket> {
        if self.has_scope() {
            return None;
        }
        let ticket = Ticket::of(self.cached.scope())?;
        self.site.set(site);
        self.bump.open(ticket.id.get(), self.cached.end());
        Some(ticket)
    }

    /// Like [`enter`](Owner::enter), but `counted` determines how the figures count the scope.
    #[inline(never)]
    pub(crate) fn enter_counted(&self, options: &Options, counted: Counted) -> Option<Ticket> {
        if !self.is_started() {
            return None;
        }
        if self.skips(options, counted) {
            return None;
        }
        let id = self.ids.fresh();
        let outer = self.scope();
        invariant!(outer.is_none_or(|outer| outer.id() < id), "G7, IDs increase");
        let cached = if outer.is_none() { self.take_cached() } else { None };
        self.promote();
        let (chunk, top) = if let Some(cached) = cached {
            self.own_empty(cached.entry(), id);
            (cached, cached.start().wrapping_add(LEAD))
        } else {
            match self.take_chunk(id) {
                Ok(taken) => taken,
                Err(reason) => {
                    self.ledger.count_fallback(reason);
                    if outer.is_none() {
                        self.keeping.scope_ended(0);
                    }
                    return None;
                }
            }
        };
        let flushed = outer.map_or(Flushed::nothing_bumped(), |outer| self.save(outer.record()));
        let scope = ScopeRef::beginning_in(chunk);
        let record = scope.record();
        record.reset();
        record.outer.set(outer);
        record.set_sizes(options.min_size, options.max_size);
        // A limit that no program can reach counts as no limit.
        let has_limit = options.byte_limit <= isize::MAX.unsigned_abs();
        record.allowance.set(if has_limit { options.byte_limit } else { UNLIMITED });
        record.count_as(counted);
        self.ledger.begin_scope(&self.bump, record);
        chunk.set_next(None);
        self.innermost.begin(Some(scope));
        self.bump.begin_scope(id);
        // Options that exclude small blocks are checked only on the slow path.
        let is_selective = options.min_size > 1 || options.max_size < SMALL;
        self.begin_chunk(chunk, top, 0, flushed);
        self.set_mode(Mode { is_selective, ..Mode::PLAIN });
        self.resume_unit(false, 0);
        self.check();
        Ticket::of(id)
    }

    /// Ends a fast scope that left no block behind, and returns its usage. The chunk stays as it is
    /// for the next scope. `None` for any other scope, which [`leave_any`](Owner::leave_any) ends.
    #[inline(always)]
    pub(crate) fn leave_fast(&self, ticket: Option<Ticket>) -> Option<Usage> {
        // No scope's ID is 0, so this is one comparison.
        if self.bump.scope_id() != ticket.map_or(0, |ticket| ticket.id.get()) {
            return None;
        }
        let entry = self.cached.entry()?;
        let served = self.bump.blocks();
        let blocks = served.wrapping_sub(self.bump.flushed_blocks());
        // The cached chunk was not adopted, so all of its blocks are this owner's. If the owner has
        // freed as many blocks as it bumped, no other thread has freed one (G3), and the shared
        // count need not be read.
        if entry.local.get().wrapping_add(signed(blocks)) != 0 {
            return None;
        }
        entry.local.set(0);
        let bytes = self.bump.end_fast(served, |bytes| self.ledger.count_bytes(bytes));
        if self.ledger.end_fast_scope() {
            self.publish(bytes);
        }
        Some(Usage { blocks, bytes, escaped: 0 })
    }

    /// Ends a scope and all open scopes nested in it. No-op if the scope belongs to another owner, or
    /// has ended with an outer one. A ticket is for one call: a later scope may have an equal one.
    /// Costs less than a nanosecond if the scope is the outermost, has
    /// the default options, fits into one chunk and leaves no block behind. Otherwise it costs a
    /// few nanoseconds, and looks at each chunk of the scope once.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// owner.leave(ticket);
    /// assert!(!owner.is_open());
    /// ```
    #[inline(always)]
    pub fn leave(&self, ticket: Ticket) {
        if self.leave_fast(Some(ticket)).is_none() {
            self.leave_slowly(ticket);
        }
    }

    #[inline(never)]
    fn leave_slowly(&self, ticket: Ticket) {
        let _ = self.leave_any(ticket);
    }

    /// Like [`leave`](Owner::leave), but returns the scope's usage.
    pub(crate) fn leave_any(&self, ticket: Ticket) -> Option<Usage> {
        // Before the scope ends, so that pools keep its memory for the next one.
        helper::start_if_due::<Owner>();
        if self.bump.scope_id() != ticket.id.get() {
            self.leave_above(ticket)?;
            if ticket.id.get() & OUTSIDE != 0 {
                self.nest_outside(-1);
                self.check();
                return None;
            }
        }
        let closed = self.close();
        self.check();
        closed
    }

    /// Ends the scopes nested in the ticket's scope; usually there are none. `None` if the ticket's
    /// scope is not open.
    #[cold]
    fn leave_above(&self, ticket: Ticket) -> Option<()> {
        let mut named = self.scope()?;
        while named.id() != ticket.scope() {
            // An owner's IDs increase, so no outer scope has the ticket's ID either.
            if named.id() < ticket.scope() {
                return None;
            }
            named = named.outer()?;
        }
        while self.innermost.scope() != Some(named) {
            self.close()?;
        }
        Some(())
    }

    /// Ends the innermost scope.
    #[inline(never)]
    pub(super) fn close(&self) -> Option<Usage> {
        let scope = self.scope()?;
        self.promote();
        let record = scope.record();
        let (counted, begun) = (record.counted(), record.at_start.get());
        let large = u64::from(record.large.get());
        self.release_chunks(scope);
        let usage = self.ledger.end_scope(&self.bump, counted, begun);
        if !self.has_scope() {
            self.keeping.scope_ended(usage.escaped - large);
            self.publish(usage.bytes);
        }
        self.count_for_site(counted);
        Some(usage)
    }

    /// Retires the chunks of the innermost scope, and restores
    /// the outer scope. Chunks that become pinned are counted for the scope's label.
    pub(super) fn release_chunks(&self, scope: ScopeRef) {
        let Some(current) = self.bump.chunk() else { return };
        let flushed = self.flush();
        let record = scope.record();
        self.ledger.count_escaped(u64::from(record.large.get()));
        let outer = record.outer.get();
        let tail = self.bump.position(flushed).offset();
        let retire = |chunk: ChunkRef| {
            self.label_pinned(chunk.entry(), flushed);
            self.retire(chunk, if chunk == current { tail } else { CHUNK }, flushed);
        };
        let first_chunk = scope.first_chunk();
        ChunkRef::list(Some(current)).filter(|chunk| *chunk != first_chunk).for_each(retire);
        // The first chunk is given up last, because its entry holds the scope's record. If it is empty,
        // the next outermost scope gets it.
        if outer.is_none() && first_chunk.entry().is_empty(flushed) {
            self.keep_cached(first_chunk);
        } else {
            retire(first_chunk);
        }
        self.restore(outer, flushed);
    }

    /// Keeps an empty chunk of this owner as the cached chunk.
    fn keep_cached(&self, chunk: ChunkRef) {
        let id = self.ids.fresh();
        let entry = chunk.entry();
        invariant!(self.cached.entry().is_none(), "an owner keeps one chunk for its next scope");
        entry.record.reset();
        // The chunk was not necessarily the last of its scope's list, because chunks take turns.
        chunk.set_next(None);
        self.own_empty(entry, id);
        self.cached.keep(chunk, id);
        self.set_gate();
    }

    /// Closes the innermost scope: requests go to the inner allocator until [`leave`](Owner::leave)
    /// is called with the ticket or the scope ends. `None` if no scope is open. Costs a few
    /// nanoseconds.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let pause = owner.enter_outside().expect("a scope is open");
    /// assert!(owner.alloc(std::alloc::Layout::new::<u64>()).is_null());
    /// owner.leave(pause);
    /// assert!(!owner.alloc(std::alloc::Layout::new::<u64>()).is_null());
    /// owner.leave(ticket);
    /// ```
    #[inline]
    pub fn enter_outside(&self) -> Option<Ticket> {
        let scope = self.scope()?;
        self.promote();
        self.nest_outside(1);
        Ticket::of(scope.id() | OUTSIDE)
    }

    /// Enters `outside` once more in the innermost scope, or leaves it once. The last leave reopens
    /// the scope.
    fn nest_outside(&self, by: i32) {
        let mode = self.innermost.mode();
        let outside_depth = mode.outside_depth.saturating_add_signed(by);
        self.set_mode(Mode { outside_depth, ..mode });
    }
}
