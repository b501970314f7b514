//! The workloads over ebbtide's scopes, on top of glibc, which `System` calls.

use ebbtide_transparent::{Arena, contestant};

enum Scopes {}

impl Arena for Scopes {
    #[inline]
    fn scope<R>(work: impl FnOnce() -> R) -> R {
        ebbtide_global::arena(work)
    }

    fn take_out<T: Clone>(value: T) -> T {
        ebbtide_global::take_out(|| value.clone())
    }

    fn report() -> String {
        ebbtide_global::report().to_string()
    }
}

contestant!(ebbtide_global::Scoped<std::alloc::System> = ebbtide_global::Scoped::new(std::alloc::System), Scopes);
