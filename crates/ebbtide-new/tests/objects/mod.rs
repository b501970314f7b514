//! The object files of the operators and of the functions of C, which a program is linked to in
//! addition to the library.

use std::{path::Path, process::Command};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// Compiles a file of `c/` with these flags to an object of this name.
pub(crate) fn object(compiler: &str, file: &str, flags: &[&str], name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new(compiler)
        .args(flags)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic"])
        .args(["-fPIC", "-c", "-I"])
        .arg(Path::new(CRATE).join("include"))
        .arg(Path::new(CRATE).join("c").join(file))
        .arg("-o")
        .arg(&path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path.into_os_string().into_string().unwrap()
}

/// The operators and the functions of C, compiled by the compiler of C++ with this name and the one
/// of C that belongs to it.
pub(crate) fn objects(compiler: &str, flags: &[&str], name: &str) -> [String; 2] {
    let c = if compiler == "g++" { "gcc" } else { "clang" };
    let malloc = [&["-std=c11"], flags].concat();
    let operators = [&["-std=c++17"], flags].concat();
    [
        object(compiler, "operators.cpp", &operators, &format!("{name}-{compiler}-operators.o")),
        object(c, "malloc.c", &malloc, &format!("{name}-{compiler}-malloc.o")),
    ]
}
