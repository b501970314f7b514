//! Sets the name of the shared library that programs linked to it request at load time.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let name = match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => "-soname,libebbtide.so.0",
        Ok("macos") => "-install_name,@rpath/libebbtide.0.dylib",
        _ => return,
    };
    println!("cargo:rustc-cdylib-link-arg=-Wl,{name}");
}
