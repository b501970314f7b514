//! The workloads over mimalloc, without arenas.

ebbtide_transparent::contestant!(
    mimalloc::MiMalloc = mimalloc::MiMalloc,
    ebbtide_transparent::Plain
);
