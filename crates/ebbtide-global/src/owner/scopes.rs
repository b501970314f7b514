//! How scopes begin and end.

use super::{
    LEAD, OUTSIDE, Owner, PUBLISH_EVERY, Run, Ticket, add, chunks::signed, listing::MEDIUM_ONLY,
};
use crate::{
    figures::{Counted, Label, Reason, Usage},
    helper, memory,
    options::Options,
    run::{NO_SCOPE, ScopeRecord, UNLIMITED},
    size::{CHUNK, LARGEST, SMALL},
};
use core::{ptr, sync::atomic::Ordering};

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
        self.enter_counted(options, Counted { label, continues: false })
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
        match self.enter_fast() {
            None => self.enter_default_slowly(),
            ticket => ticket,
        }
    }

    #[inline(never)]
    fn enter_default_slowly(&self) -> Option<Ticket> {
        self.enter(&Options::new())
    }

    /// Opens a fast scope: an outermost scope with the default options, in the cached chunk. `None`
    /// if another scope is open or there is no cached chunk.
    #[inline(always)]
    pub(crate) fn enter_fast(&self) -> Option<Ticket> {
        if self.has_scope() {
            return None;
        }
        let ticket = Ticket::of(self.cached_scope.get())?;
        self.scope.set(ticket.id.get());
        self.open_limit.set(self.cached_end.get());
        Some(ticket)
    }

    /// Like [`enter`](Owner::enter), but `counted` determines how the figures count the scope.
    #[inline(never)]
    pub(crate) fn enter_counted(&self, options: &Options, counted: Counted) -> Option<Ticket> {
        if !self.is_started() {
            return None;
        }
        if !self.has_scope() && self.payoff.skips_next() {
            add(&self.scopes_ended, counted.scopes());
            counted.count(&Usage::default(), self.counters.get());
            if counted.scopes() > 0 {
                self.count_fallback(Reason::SkippedScope);
            }
            self.end_persistent();
            if u64::from(self.payoff.left_to_skip()) % PUBLISH_EVERY == 0 {
                // Skipped scopes serve nothing, so without this call, memory that is not used would
                // never go back to the system.
                self.observe(0);
            }
            return None;
        }
        let may_persist = options.serves_all() && !self.has_scope();
        if let Some(ticket) = self.resume_persistent(may_persist, counted) {
            return Some(ticket);
        }
        let persists = may_persist && self.persistence.is_due();
        if persists {
            // P2: a persistent scope adopts nothing.
            self.cache.forget_tails();
        }
        let scope = self.new_id();
        let outer = self.innermost();
        let cached = if outer.is_none() { self.take_cached() } else { None };
        self.promote();
        let (chunk, top) = if let Some(cached) = cached {
            self.own_empty(cached.entry(), scope);
            (cached, cached.start().wrapping_add(LEAD))
        } else {
            match self.take_chunk(scope) {
                Ok(taken) => taken,
                Err(reason) => {
                    self.count_fallback(reason);
                    return None;
                }
            }
        };
        if let Some(outer) = outer {
            self.save(&outer.entry().record);
        }
        let record = &chunk.entry().record;
        record.reset();
        record.outer.set(outer);
        record.min_size.set(options.min_size);
        record.max_size.set(options.max_size.min(LARGEST));
        // A limit that no program can reach counts as no limit.
        let has_limit = options.byte_limit <= isize::MAX.unsigned_abs();
        record.allowance.set(if has_limit { options.byte_limit } else { UNLIMITED });
        self.begin_figures(record, counted);
        chunk.set_next(None);
        self.first_chunk.set(Some(chunk));
        self.scope.set(scope);
        self.lists.set(None);
        self.search_position.set(None);
        self.parked.set(0);
        self.outside_depth.set(0);
        self.retry_after.set(0);
        self.set_paths(chunk);
        self.begin_chunk(chunk, top, 0);
        let session = if persists { self.persist(chunk) } else { None };
        self.check();
        session.or(Ticket::of(scope))
    }

    /// Ends a fast scope that left no block behind, and returns its usage. The chunk stays as it is
    /// for the next scope. `None` for any other scope, which [`leave_any`](Owner::leave_any) ends.
    #[inline(always)]
    pub(crate) fn leave_fast(&self, ticket: Option<Ticket>) -> Option<Usage> {
        // No scope's ID is 0, so this is one comparison.
        if self.scope.get() != ticket.map_or(0, |ticket| ticket.id.get()) {
            return None;
        }
        let entry = self.cached_entry.get()?;
        let served = self.bumped_blocks.get();
        let blocks = served.wrapping_sub(self.flushed_blocks.get());
        // The cached chunk was not adopted, so all of its blocks are this owner's. If the owner has
        // freed as many blocks as it bumped, no other thread has freed one (G3), and the shared
        // count need not be read.
        if entry.local.get().wrapping_add(signed(blocks)) != 0 {
            return None;
        }
        entry.local.set(0);
        self.flushed_blocks.set(served);
        let from = self.flushed_top.get();
        let bytes = self.top.get().addr().wrapping_sub(from) as u64;
        if bytes != 0 {
            add(&self.bytes, bytes);
            self.top.set(self.top.get().with_addr(from));
        }
        self.open_limit.set(0);
        self.scope.set(NO_SCOPE);
        let more = self.scopes_until_publish.get() - 1;
        self.scopes_until_publish.set(more);
        if more == 0 {
            self.publish(bytes);
        }
        Some(Usage { blocks, bytes, escaped: 0 })
    }

    /// Promotes a fast scope to a full scope. Called before a scope does anything but bump in its
    /// first chunk.
    #[inline]
    pub(super) fn promote(&self) {
        if let Some(entry) = self.cached_entry.take() {
            self.cached_scope.set(0);
            let record = &entry.record;
            // Nothing was flushed since the previous scope ended.
            record
                .blocks_at_start
                .set(self.flushed_blocks.get().wrapping_add(self.other_blocks.get()));
            record.bytes_at_start.set(self.bytes.get());
            record.escaped_at_start.set(self.escaped.get());
        }
    }

    /// Takes the cached chunk out of the cache.
    #[inline]
    pub(super) fn take_cached(&self) -> Option<Run> {
        self.cached_scope.set(0);
        self.cached_entry.take().and(self.first_chunk.get())
    }

    /// The first chunk of the innermost scope, which identifies the scope.
    #[inline]
    pub(super) fn innermost(&self) -> Option<Run> {
        if self.has_scope() { self.first_chunk.get() } else { None }
    }

    /// Ends a scope and all open scopes nested in it. No-op if the scope has already ended or
    /// belongs to another owner. Costs less than a nanosecond if the scope is the outermost, has
    /// the default options, fits into one chunk and leaves no block behind. Otherwise it costs a
    /// few nanoseconds, and looks at each chunk of the scope once.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// owner.leave(ticket);
    /// owner.leave(ticket); // has ended: nothing happens
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
    #[inline]
    pub(crate) fn leave_any(&self, ticket: Ticket) -> Option<Usage> {
        // Before the scope ends, so that pools keep its memory for the next one.
        helper::start_if_due::<Owner>();
        if self.scope.get() != ticket.id.get() {
            self.leave_above(ticket)?;
            if ticket.id.get() & OUTSIDE != 0 {
                self.leave_outside();
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
        let mut named = self.innermost()?;
        while self.ticket_scope(named) != ticket.scope() {
            named = named.entry().record.outer.get()?;
        }
        while self.first_chunk.get() != Some(named) {
            self.close()?;
        }
        Some(())
    }

    /// The ID in the ticket of the open scope whose first chunk is `first_chunk`.
    fn ticket_scope(&self, first_chunk: Run) -> u64 {
        if self.is_persistent(first_chunk) {
            self.persistence.session.get()
        } else {
            first_chunk.entry().scope.load(Ordering::Relaxed)
        }
    }

    /// Ends the innermost scope, or suspends it if it persists.
    #[inline(never)]
    pub(super) fn close(&self) -> Option<Usage> {
        let first_chunk = self.innermost()?;
        if self.is_persistent(first_chunk) {
            return Some(self.suspend_persistent(first_chunk));
        }
        self.promote();
        let record = &first_chunk.entry().record;
        let (counted, begun) = (record.counted.get(), record.usage_at_start());
        self.release_chunks(first_chunk);
        let usage = self.count_scope(counted, begun);
        if !self.has_scope() {
            self.sample_scope();
            self.publish(usage.bytes);
        }
        Some(usage)
    }

    /// Adds an outermost scope that ended to the sample that decides whether to skip scopes.
    pub(super) fn sample_scope(&self) {
        let kept = self.payoff.scope_ended(|| self.totals());
        if kept > 0 {
            memory::skipped(kept);
        }
    }

    /// Retires the chunks of the innermost scope, whose first chunk is `first_chunk`, and restores
    /// the outer scope. Chunks that become pinned are counted for the scope's label.
    #[inline]
    pub(super) fn release_chunks(&self, first_chunk: Run) {
        let Some(current) = self.current_chunk.get() else { return };
        self.flush();
        let record = &first_chunk.entry().record;
        add(&self.escaped, u64::from(record.large.get()));
        let outer = record.outer.get();
        let tail = self.top.get().addr().wrapping_sub(current.start().addr());
        let retire = |chunk: Run| {
            self.label_pinned(chunk.entry());
            self.retire(chunk, if chunk == current { tail } else { CHUNK });
        };
        let mut next = Some(current);
        while let Some(chunk) = next {
            next = chunk.next();
            if chunk != first_chunk {
                retire(chunk);
            }
        }
        // The first chunk is given up last, because its entry holds the scope's record. If it goes
        // to the cache, the next scope gets it first.
        let is_cached = outer.is_none() && self.is_empty(first_chunk) && !self.persistence.is_due();
        if is_cached {
            // The first chunk of an outermost scope is kept for the next scope, unless that one
            // will persist (P1).
            self.keep_cached(first_chunk);
        } else {
            retire(first_chunk);
        }
        self.restore(outer);
    }

    /// Records the owner's figures at the start of a scope.
    #[inline]
    pub(super) fn begin_figures(&self, record: &ScopeRecord, counted: Counted) {
        record.counted.set(counted);
        record.blocks_at_start.set(self.blocks());
        record.bytes_at_start.set(self.bytes.get());
        record.escaped_at_start.set(self.escaped.get());
        record.large.set(0);
    }

    /// Counts a scope that ends, and returns its usage. `begun` has the figures at its start.
    #[inline]
    pub(super) fn count_scope(&self, counted: Counted, begun: Usage) -> Usage {
        let bytes = self.bytes.get().wrapping_sub(begun.bytes);
        let usage = Usage {
            blocks: self.blocks().wrapping_sub(begun.blocks),
            // Negative if the scope rewound more bytes of earlier blocks than it took.
            bytes: if i64::try_from(bytes).is_ok() { bytes } else { 0 },
            escaped: self.escaped.get().wrapping_sub(begun.escaped),
        };
        add(&self.scopes_ended, counted.scopes());
        counted.count(&usage, self.counters.get());
        usage
    }

    /// Keeps an empty chunk of this owner as the cached chunk.
    #[inline]
    fn keep_cached(&self, chunk: Run) {
        let scope = self.new_id();
        let entry = chunk.entry();
        entry.record.reset();
        entry.is_sparse.set(false);
        // The chunk was not necessarily the last of its scope's list, because chunks take turns.
        chunk.set_next(None);
        self.own_empty(entry, scope);
        self.cached_entry.set(Some(entry));
        self.cached_scope.set(scope);
        self.cached_end.set(chunk.start().addr() + CHUNK);
    }

    /// Saves the innermost scope's state in its record, before another becomes the innermost.
    #[inline]
    pub(super) fn save(&self, record: &ScopeRecord) {
        self.flush();
        record.current_chunk.set(self.current_chunk.get());
        record.top.set(self.top.get());
        record.limit.set(self.limit.get());
        record.parked.set(self.parked.get());
        record.outside_depth.set(self.outside_depth.get());
        record.retry_after.set(self.retry_after.get());
        record.lists.set(self.lists.get());
    }

    /// Makes the scope whose first chunk is `outer` the innermost one again. With `None`, no scope
    /// is open afterwards.
    #[inline]
    pub(super) fn restore(&self, outer: Option<Run>) {
        self.flushed_blocks.set(self.bumped_blocks.get());
        self.search_position.set(None);
        let Some(first_chunk) = outer else {
            // The state with which a fast scope in the cached chunk begins.
            let cached = self.cached_entry.get().and(self.first_chunk.get());
            let top = cached.map_or(ptr::null_mut(), |chunk| chunk.start().wrapping_add(LEAD));
            self.top.set(top);
            self.flushed_top.set(top.addr());
            self.first_chunk.set(cached);
            self.current_chunk.set(cached);
            self.lists.set(None);
            self.small_max.set(SMALL);
            self.list_floor.set(MEDIUM_ONLY);
            self.limit.set(self.cached_end.get());
            self.parked.set(0);
            self.outside_depth.set(0);
            self.retry_after.set(0);
            self.open_limit.set(0);
            self.scope.set(NO_SCOPE);
            return;
        };
        let entry = first_chunk.entry();
        let record = &entry.record;
        self.top.set(record.top.get());
        self.flushed_top.set(record.top.get().addr());
        self.first_chunk.set(outer);
        self.current_chunk.set(record.current_chunk.get());
        self.lists.set(record.lists.get());
        self.limit.set(record.limit.get());
        self.parked.set(record.parked.get());
        self.outside_depth.set(record.outside_depth.get());
        self.retry_after.set(record.retry_after.get());
        self.set_paths(first_chunk);
        self.reopen();
        self.scope.set(entry.scope.load(Ordering::Relaxed));
    }

    /// Sets `open_limit` to `limit`, or to 0 if the innermost scope is closed.
    #[inline]
    fn reopen(&self) {
        let is_closed = self.outside_depth.get() > 0 || self.retry_after.get() > 0;
        self.open_limit.set(if is_closed { 0 } else { self.limit.get() });
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
        let first_chunk = self.innermost()?;
        self.promote();
        self.outside_depth.set(self.outside_depth.get() + 1);
        self.open_limit.set(0);
        self.set_paths(first_chunk);
        let scope = self.ticket_scope(first_chunk);
        Ticket::of(scope | OUTSIDE)
    }

    /// Reverses one call to [`enter_outside`](Owner::enter_outside). The last one reopens the
    /// innermost scope.
    fn leave_outside(&self) {
        let Some(first_chunk) = self.innermost() else { return };
        self.outside_depth.set(self.outside_depth.get().saturating_sub(1));
        self.set_paths(first_chunk);
        self.reopen();
        self.check();
    }
}
