//! The workloads over glibc, which `System` calls, without arenas.

ebbtide_transparent::contestant!(
    std::alloc::System = std::alloc::System,
    ebbtide_transparent::Plain
);
