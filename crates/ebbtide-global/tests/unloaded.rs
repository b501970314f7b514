//! Claim: a library with an allocator of its own may be unloaded after its threads have ended,
//! although the helper thread is still there; the helper thread does not keep it loaded for ever.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use ebbtide_patience::{eventually, pause};
use std::{
    env,
    ffi::CString,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

const LIBRARY: &str = "
use ebbtide_global::{Scoped, arena, report};

#[global_allocator]
static ALLOC: Scoped<std::alloc::System> = Scoped::new(std::alloc::System);

#[unsafe(no_mangle)]
extern \"C\" fn work() -> bool {
    arena(|| {
        let blocks: Vec<Vec<u8>> = (0..40).map(|number| vec![number; 1 << 20]).collect();
        std::hint::black_box(&blocks);
        report().held >= 40 << 20
    })
}
";

/// Builds the library, which is a package of its own.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unloaded");
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"unloaded\"\nedition = \"2024\"\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\nebbtide-global = {{ path = {CRATE:?} }}\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), LIBRARY).unwrap();
    // The versions that the tests were built with are there.
    let _ = fs::copy(Path::new(CRATE).join("../../Cargo.lock"), folder.join("Cargo.lock"));
    let target = folder.join("target");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", &target)
        .status();
    assert!(status.unwrap().success(), "cargo builds the library");
    target.join("debug/libunloaded.so")
}

#[test]
fn a_library_may_be_unloaded_while_the_helper_thread_sleeps() {
    alone!();
    // An emulator would have to run the compiler.
    if env::var_os("EBBTIDE_TEST_RUNNER").is_some() {
        return;
    }
    let path = CString::new(library().as_os_str().as_bytes()).unwrap();
    let open = |flags| {
        // SAFETY: the path ends with a zero. Loading the library runs nothing of it.
        unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LOCAL | flags) }
    };
    let close = |library| {
        // SAFETY: the library was opened, and nothing of it is used any more.
        assert_eq!(unsafe { libc::dlclose(library) }, 0);
    };
    let library = open(libc::RTLD_NOW);
    assert!(!library.is_null());
    // SAFETY: the library is open, and the name ends with a zero.
    let work = unsafe { libc::dlsym(library, c"work".as_ptr()) };
    assert!(!work.is_null());
    // SAFETY: the library defines it with this type.
    let work = unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> bool>(work) };
    assert!(thread::spawn(move || work()).join().unwrap(), "it held much");
    close(library);
    let is_unloaded = eventually(|| {
        pause(100);
        // What was closed while it was in use is unloaded with the next one.
        close(open(libc::RTLD_NOW));
        let loaded = open(libc::RTLD_NOW | libc::RTLD_NOLOAD);
        if !loaded.is_null() {
            close(loaded);
        }
        loaded.is_null()
    });
    assert!(is_unloaded, "it is still loaded");
    // A thread that was still in the library would look again in this time.
    pause(2_000);
}
