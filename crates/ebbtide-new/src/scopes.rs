//! Opening and ending scopes.

use crate::exit;
use core::ffi::{CStr, c_char, c_void};
use ebbtide_global::{
    Options,
    engine::{Owner, Ticket},
};

/// Which requests a scope serves; 0 and null stand for the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ebb_scope_options {
    /// The C library serves smaller blocks.
    pub min_size: usize,
    /// The C library serves larger blocks; 0: those above 1 GiB.
    pub max_size: usize,
    /// The most bytes that the scope takes; beyond it the C library serves. 0: no limit.
    pub byte_limit: usize,
    /// A name under which the report counts these scopes, or null.
    pub label: *const c_char,
    /// A number for scopes that do the same work; 0: the place of the call.
    pub site: u32,
}

/// The engine's options.
///
/// # Safety
///
/// The label is null, or a string that is never freed or changed.
unsafe fn options_of(given: &ebb_scope_options, caller: u32) -> Options {
    let site = if given.site == 0 { caller } else { given.site };
    let mut options = Options::new().min_size(given.min_size).site(site);
    if given.max_size > 0 {
        options = options.max_size(given.max_size);
    }
    if given.byte_limit > 0 {
        options = options.byte_limit(given.byte_limit);
    }
    if !given.label.is_null() {
        // SAFETY: not null, so by this function's contract it is a string that ends with a zero,
        // and nobody frees or changes it.
        let label: &'static CStr = unsafe { CStr::from_ptr(given.label) };
        options = options.label(label.to_str().unwrap_or("(not UTF-8)"));
    }
    options
}

/// Enables the thread to open scopes. Returns false if that is impossible; all blocks then come
/// from the C library, as they do after the thread's owner has ended.
///
/// # Safety
///
/// The contract of [`exit::register`].
#[cold]
unsafe fn start(owner: &Owner) -> bool {
    // SAFETY: `owner` is a variable of this thread, and lives until destructors (on Linux, also
    // those of keys) have run, by this function's contract.
    unsafe { exit::register(owner) && owner.start() }
}

/// The number of the site that calls from this address. Never 0.
#[allow(clippy::cast_possible_truncation, reason = "sites are told apart by their low bits")]
fn site_at(caller: *const c_void) -> u32 {
    caller.addr() as u32 | 1
}

fn number(ticket: Option<Ticket>) -> u64 {
    ticket.map_or(0, Ticket::number)
}

/// Opens a scope. The number is for `ebb_leave_`; 0 if there is no scope.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ebb_enter_(caller: *const c_void, owner: &Owner) -> u64 {
    let site = site_at(caller);
    if owner.is_started() {
        number(owner.enter_default_at(site))
    } else {
        // SAFETY: the owner is C's thread-local of the calling thread, by the rules for every
        // function; its memory outlasts the destructors that `exit` uses.
        unsafe { start_and_enter(owner, &Options::new().site(site)) }
    }
}

/// Like `ebb_enter_`, with options; null for the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_enter_with_(
    options: Option<&ebb_scope_options>,
    caller: *const c_void,
    owner: &Owner,
) -> u64 {
    let site = site_at(caller);
    let defaults = Options::new().site(site);
    // SAFETY: the label is null or a string that is never freed or changed, as the header demands
    // of `ebb_scope_options`.
    let options = options.map_or(defaults, |given| unsafe { options_of(given, site) });
    if owner.is_started() {
        number(owner.enter(&options))
    } else {
        // SAFETY: the owner is C's thread-local of the calling thread, by the rules for every
        // function; its memory outlasts the destructors that `exit` uses.
        unsafe { start_and_enter(owner, &options) }
    }
}

/// Starts the owner of a thread and opens its first scope.
///
/// # Safety
///
/// The contract of [`start`].
#[inline(never)]
unsafe fn start_and_enter(owner: &Owner, options: &Options) -> u64 {
    // SAFETY: `owner` is a variable of this thread, and lives until destructors (on Linux, also
    // those of keys) have run, by this function's contract.
    number(if unsafe { start(owner) } { owner.enter(options) } else { None })
}

/// Closes the innermost scope to requests until `ebb_leave_` is called with the returned number.
/// Returns 0 if no scope is open.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_enter_outside_(owner: &Owner) -> u64 {
    number(owner.enter_outside())
}

/// Ends a scope and those nested in it. No-op for 0, and for scopes that have ended with an outer one.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn ebb_leave_(ticket: u64, owner: &Owner) {
    if let Some(ticket) = Ticket::from_number(ticket) {
        owner.leave(ticket);
    }
}
