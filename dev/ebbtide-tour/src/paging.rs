//! Page faults of this process, and returning free pages to the system.

/// All page faults so far; `None` if the system does not report them.
#[cfg(unix)]
pub(crate) fn faults() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writing a `rusage`.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: `rusage` consists of integers, for which zeros are valid.
    let usage = unsafe { usage.assume_init() };
    (status == 0).then(|| u64::try_from(usage.ru_minflt + usage.ru_majflt).unwrap_or(0))
}

/// All page faults so far; `None` if the system does not report them.
#[cfg(not(unix))]
pub(crate) fn faults() -> Option<u64> {
    None
}

/// Returns the free pages of the heap and of the transparent allocator to the system, so that the
/// next run pays for its own page faults. Heaps without such a call keep theirs.
pub(crate) fn give_back() {
    ebbtide_global::release_pool();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call is allowed at any time; it only releases free memory.
    unsafe {
        libc::malloc_trim(0);
    }
}
