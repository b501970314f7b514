//! Compiles the part in C, for the program in Rust.

fn main() {
    println!("cargo:rerun-if-changed=src/split.c");
    println!("cargo:rerun-if-changed=src/shared.h");
    cc::Build::new()
        .file("src/split.c")
        .include("../../include")
        .std("c11")
        .warnings_into_errors(true)
        .compile("split");
}
