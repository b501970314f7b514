//! The pages of memory that the system gives this process: how often, and giving them back.

/// All page faults so far; `None` where the system does not tell.
#[cfg(unix)]
pub(crate) fn faults() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`, for the call to write.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: `rusage` is plain integers, for which the zeros it was made with are valid too.
    let usage = unsafe { usage.assume_init() };
    (status == 0).then(|| u64::try_from(usage.ru_minflt + usage.ru_majflt).unwrap_or(0))
}

/// All page faults so far; `None` where the system does not tell.
#[cfg(not(unix))]
pub(crate) fn faults() -> Option<u64> {
    None
}

/// Gives the free pages of the heap and of the transparent arena back to the system, so that what
/// runs next cannot live on pages that another run paid for. Leaves the heap's where it has no such
/// call.
pub(crate) fn give_back() {
    ebbtide_global::release_pool();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call may be made at any time; it only gives back memory that nobody owns.
    unsafe {
        libc::malloc_trim(0);
    }
}
