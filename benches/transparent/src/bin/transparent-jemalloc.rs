//! The workloads over jemalloc, without arenas.

ebbtide_transparent::contestant!(
    tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc,
    ebbtide_transparent::Plain
);
