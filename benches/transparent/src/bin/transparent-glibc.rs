//! The workloads over glibc, as `System` calls it, without arenas.

ebbtide_transparent::contestant!(
    std::alloc::System = std::alloc::System,
    ebbtide_transparent::Plain
);
