//! The code that the loader has mapped.

use super::journal::Code;
use crate::sys;
use core::ffi::{CStr, c_int, c_void};

/// What the loader has mapped: the number of modules that it has ever added, and their code.
pub(crate) struct Loaded {
    pub(crate) added: u64,
    pub(crate) code: Vec<Code>,
}

impl Loaded {
    /// What is mapped now; empty if no more than `added` modules were added. Called without the lock:
    /// the loader has its own meanwhile, and a program's function that it calls may allocate.
    pub(crate) fn now(added: u64) -> Loaded {
        let mut loaded = Loaded { added, code: Vec::new() };
        let data: *mut Loaded = &raw mut loaded;
        // SAFETY: `each_module` expects this value, which is not used meanwhile.
        unsafe { sys::dl_iterate_phdr(each_module, data.cast()) };
        loaded
    }
}

extern "C" fn each_module(module: *mut sys::LoadedModule, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: `Loaded::now` passes its value.
    let loaded = unsafe { &mut *data.cast::<Loaded>() };
    // SAFETY: the loader's description, which is valid during this call.
    let module = unsafe { &*module };
    if loaded.code.is_empty() && module.added == loaded.added {
        return 1;
    }
    loaded.added = module.added;
    let path = if module.name.is_null() {
        &[][..]
    } else {
        // SAFETY: the loader's text.
        unsafe { CStr::from_ptr(module.name) }.to_bytes()
    };
    for index in 0..usize::from(module.header_count) {
        // SAFETY: there are so many headers.
        let header = unsafe { &*module.headers.wrapping_add(index) };
        if header.kind == sys::LOADED && header.flags & sys::EXECUTABLE != 0 {
            #[allow(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
            let start = module.base.wrapping_add(header.address as usize);
            #[allow(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
            let end = start.wrapping_add(header.bytes as usize);
            loaded.code.push(Code { base: module.base, start, end, path: path.to_owned() });
        }
    }
    0
}
