#!/usr/bin/env bash
# Runs hashbrown's own tests with every table in a scope instead of on the heap: in a copy, `Global`
# becomes an allocator over one scope of the process. Arguments are passed to `cargo test`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
copy=${CARGO_TARGET_DIR:-$here/../../target}/others/hashbrown

bash "$here/fetch.sh" hashbrown "$copy"
cd "$copy"
grep -q 'pub(crate) use allocator_api2::alloc::{Allocator, Global};' src/alloc.rs
sed -i 's/pub(crate) use allocator_api2::alloc::{Allocator, Global};/pub(crate) use allocator_api2::alloc::Allocator;\n    pub use crate::in_a_scope::Global;/' src/alloc.rs
cat >>src/lib.rs <<'END'

mod in_a_scope {
    extern crate std;

    use allocator_api2::alloc::{AllocError, Allocator};
    use core::{alloc::Layout, ptr::NonNull};
    use ebbtide::{Arena, Scope};
    use std::sync::{LazyLock, Mutex, PoisonError};

    static SCOPE: LazyLock<Mutex<Scope<'static>>> =
        LazyLock::new(|| Mutex::new(std::boxed::Box::leak(std::boxed::Box::new(Arena::new())).scope()));

    /// Allocates the tables.
    #[derive(Copy, Clone, Default, Debug)]
    #[allow(missing_docs, unnameable_types)]
    pub struct Global;

    // SAFETY: all blocks belong to the scope, which is never dropped.
    unsafe impl Allocator for Global {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            // Some tests request more memory than any machine has, to see it fail.
            if layout.size() > 1 << 32 {
                return Err(AllocError);
            }
            (&*SCOPE.lock().unwrap_or_else(PoisonError::into_inner)).allocate(layout)
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            let scope = SCOPE.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the scope allocated the block with this layout.
            unsafe { (&&*scope).deallocate(block, layout) };
        }
    }
}
END
cat >>Cargo.toml <<END

[dependencies.ebbtide]
path = "$here/../../crates/ebbtide"
features = ["hashbrown-017"]
END
exec cargo test --lib --tests --features rayon,serde "$@"
