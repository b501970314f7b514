//! The workloads over the system's allocator, which records the sizes of blocks.

ebbtide_transparent::contestant!(
    ebbtide_transparent::litter::Recorded = ebbtide_transparent::litter::Recorded,
    ebbtide_transparent::litter::Recording
);
