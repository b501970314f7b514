//! Page faults of this process: how often the system had to give it a page of memory, or read one from disk.

/// All page faults so far; `None` where the system does not tell.
#[cfg(unix)]
pub(crate) fn so_far() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`, for the call to write.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: `rusage` is plain integers, for which the zeros it was made with are valid too.
    let usage = unsafe { usage.assume_init() };
    (status == 0).then(|| u64::try_from(usage.ru_minflt + usage.ru_majflt).unwrap_or(0))
}

/// All page faults so far; `None` where the system does not tell.
#[cfg(not(unix))]
pub(crate) fn so_far() -> Option<u64> {
    None
}
