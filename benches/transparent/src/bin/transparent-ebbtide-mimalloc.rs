//! The workloads over ebbtide's scopes, on top of mimalloc.

ebbtide_transparent::contestant!(
    ebbtide_global::Scoped<mimalloc::MiMalloc> = ebbtide_global::Scoped::new(mimalloc::MiMalloc),
    ebbtide_transparent::Scopes
);
