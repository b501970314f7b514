//! `cargo xtask dist PREFIX`: installs the C interface: its libraries, the transparent arenas, the
//! headers, pkg-config files and a `CMake` package. If `DESTDIR` is set, they go to PREFIX below
//! that folder, as packagers expect.
//!
//! The files find each other by relative paths, so the folder can be moved as a whole.

use crate::{Failure, process};
use std::{
    env,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

const CRATE: &str = "crates/ebbtide-capi";
const TRANSPARENT: &str = "crates/ebbtide-new";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The soname of the shared library, with the number from the build script.
const SONAME: &str = "libebbtide.so.0";

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let [prefix] = arguments else {
        return Err(Failure::Usage("dist takes one folder".to_owned()));
    };
    if prefix.starts_with('-') {
        return Err(Failure::Usage(format!("dist takes a folder, not the option `{prefix}`")));
    }
    let built = process::show("cargo build --release --package ebbtide-capi --package ebbtide-new");
    if !built.is_ok_and(|status| status.success()) {
        return Err(Failure::Work);
    }
    let prefix = below(env::var_os("DESTDIR").as_deref(), Path::new(prefix));
    install(&prefix).map_err(|error| {
        eprintln!("{}: {error}", prefix.display());
        Failure::Work
    })
}

/// The prefix below a staging folder, from which packagers move it.
fn below(staging: Option<&OsStr>, prefix: &Path) -> PathBuf {
    let staging = staging.unwrap_or_default();
    let inside =
        if staging.is_empty() { prefix } else { prefix.strip_prefix("/").unwrap_or(prefix) };
    Path::new(staging).join(inside)
}

fn install(prefix: &Path) -> io::Result<()> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let built = target.join("release");
    let (lib, include) = (prefix.join("lib"), prefix.join("include"));
    let (pkgconfig, cmake) = (lib.join("pkgconfig"), lib.join("cmake/ebbtide"));
    for folder in [&include, &pkgconfig, &cmake] {
        fs::create_dir_all(folder)?;
    }
    for (source, header) in [
        (CRATE, "ebbtide.h"),
        (CRATE, "ebbtide.hpp"),
        (TRANSPARENT, "ebbtide_new.h"),
        (TRANSPARENT, "ebbtide_new.hpp"),
    ] {
        fs::copy(Path::new(source).join("include").join(header), include.join(header))?;
    }
    install_transparent(&built, &lib)?;
    fs::copy(built.join("libebbtide_capi.a"), lib.join("libebbtide.a"))?;
    let shared = format!("libebbtide.so.{VERSION}");
    fs::copy(built.join("libebbtide_capi.so"), lib.join(&shared))?;
    link(&shared, &lib.join(SONAME))?;
    link(SONAME, &lib.join("libebbtide.so"))?;
    for (source, file, folder) in [
        (CRATE, "ebbtide.pc", &pkgconfig),
        (TRANSPARENT, "ebbtide-new.pc", &pkgconfig),
        (CRATE, "ebbtide-config.cmake", &cmake),
        (CRATE, "ebbtide-config-version.cmake", &cmake),
    ] {
        let text = fs::read_to_string(Path::new(source).join("dist").join(file))?;
        fs::write(folder.join(file), text.replace("@VERSION@", VERSION))?;
    }
    Ok(())
}

/// Installs the operators `new` and `delete`, and the engine that they call. They are separate
/// libraries, because other tools cannot add objects to a library that Rust created.
fn install_transparent(built: &Path, lib: &Path) -> io::Result<()> {
    fs::copy(built.join("libebbtide_new.a"), lib.join("libebbtide_new_engine.a"))?;
    let objects = built.join("ebbtide-new");
    fs::create_dir_all(&objects)?;
    let library = lib.join("libebbtide_new.a");
    if library.exists() {
        fs::remove_file(&library)?;
    }
    let mut archive = vec![OsStr::new("rc").to_owned(), library.into_os_string()];
    for (variable, default, standard, file) in
        [("CC", "cc", "-std=c11", "malloc.c"), ("CXX", "c++", "-std=c++17", "operators.cpp")]
    {
        let source = Path::new(TRANSPARENT);
        let object = objects.join(file).with_extension("o");
        let compiler = env::var_os(variable).unwrap_or_else(|| default.into());
        let mut command = Command::new(&compiler);
        command.args([standard, "-O2", "-fPIC", "-c", "-I"]).arg(source.join("include"));
        succeed(command.arg(source.join("c").join(file)).arg("-o").arg(&object))?;
        archive.push(object.into_os_string());
    }
    succeed(Command::new("ar").args(archive))
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(io::Error::other(format!("{program}: {status}"))),
        Err(error) => Err(io::Error::new(error.kind(), format!("{program}: {error}"))),
    }
}

/// Creates a symbolic link, replacing any existing file.
#[cfg(unix)]
fn link(to: &str, from: &Path) -> io::Result<()> {
    match fs::remove_file(from) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::os::unix::fs::symlink(to, from)
}

#[cfg(not(unix))]
fn link(_to: &str, _from: &Path) -> io::Result<()> {
    Err(io::Error::other("shared libraries have other names here: only Unix is supported"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staging_folder_stands_before_the_prefix() {
        let below = |staging: Option<&str>, prefix: &str| {
            super::below(staging.map(OsStr::new), Path::new(prefix)).display().to_string()
        };
        assert_eq!(below(None, "/usr"), "/usr");
        assert_eq!(below(Some(""), "/usr"), "/usr");
        assert_eq!(below(Some("/stage"), "/usr"), "/stage/usr");
        assert_eq!(below(Some("/stage"), "here"), "/stage/here");
    }
}
