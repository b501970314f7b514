//! The workloads over ebbtide's scopes, on top of glibc, which `System` calls.

ebbtide_transparent::contestant!(
    ebbtide_global::Scoped<std::alloc::System> = ebbtide_global::Scoped::new(std::alloc::System),
    ebbtide_transparent::Scopes
);
