//! `cargo xtask dist PREFIX`: installs the C interface: its libraries, the transparent arenas, the
//! headers, pkg-config files and a `CMake` package. If `DESTDIR` is set, they go to PREFIX below
//! that folder, as packagers expect.
//!
//! The files find each other by relative paths, so the folder can be moved as a whole.

use crate::{Failure, process};
use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

const CRATE: &str = "crates/ebbtide-capi";
const TRANSPARENT: &str = "crates/ebbtide-new";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The shared library on Linux.
const SHARED: &str = concat!("libebbtide.so.", env!("CARGO_PKG_VERSION"));

/// For the usage text.
pub(crate) const OPTIONS: &str = "
  --target TRIPLE  for another platform that cargo can link for; CC, CXX and STRIP name its tools
  --static         without the shared library
  --strip          without debug information
  --poison         transparent arenas overwrite freed blocks with 0xDE, to find mistakes
  --archive        also packs the folder into PREFIX.tar.gz";

/// What the arguments ask for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    prefix: PathBuf,
    target: Option<String>,
    is_static: bool,
    strip: bool,
    poison: bool,
    archive: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Options::default();
        let mut prefixes = Vec::new();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--target" => {
                    let triple = arguments.next().filter(|triple| !triple.starts_with('-'));
                    let none = || Failure::Usage("--target takes a triple".to_owned());
                    options.target = Some(triple.ok_or_else(none)?.clone());
                }
                "--static" => options.is_static = true,
                "--strip" => options.strip = true,
                "--poison" => options.poison = true,
                "--archive" => options.archive = true,
                option if option.starts_with('-') => {
                    return Err(Failure::Usage(format!("unknown option of dist: `{option}`")));
                }
                prefix => prefixes.push(prefix),
            }
        }
        let [prefix] = prefixes[..] else {
            return Err(Failure::Usage("dist takes one folder".to_owned()));
        };
        options.prefix = prefix.into();
        Ok(options)
    }

    /// The command that builds the libraries.
    fn build(&self) -> String {
        // Our own part; `strip` removes that of the standard library.
        let mut line =
            String::from(if self.strip { "CARGO_PROFILE_RELEASE_DEBUG=false " } else { "" });
        line += "cargo build --release --package ebbtide-capi";
        if self.platform().has_transparent() {
            line += " --package ebbtide-new";
            line += if self.poison { " --features ebbtide-new/poison" } else { "" };
        }
        line + &self.target.as_ref().map(|triple| format!(" --target {triple}")).unwrap_or_default()
    }

    /// Where cargo puts them.
    fn built(&self) -> PathBuf {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        target.join(self.target.as_deref().unwrap_or_default()).join("release")
    }

    fn platform(&self) -> Platform {
        match &self.target {
            Some(triple) if triple.contains("windows-msvc") => Platform::Msvc,
            Some(triple) if triple.contains("windows") => Platform::MinGw,
            Some(triple) if triple.contains("apple") => Platform::Mac,
            Some(_) => Platform::Elf,
            None if cfg!(target_env = "msvc") => Platform::Msvc,
            None if cfg!(windows) => Platform::MinGw,
            None if cfg!(target_vendor = "apple") => Platform::Mac,
            None => Platform::Elf,
        }
    }
}

/// How libraries are called and linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Platform {
    Elf,
    MinGw,
    Msvc,
    Mac,
}

impl Platform {
    /// What cargo calls the static library, and where it goes.
    fn static_library(self) -> (&'static str, &'static str) {
        match self {
            Platform::Msvc => ("ebbtide_capi.lib", "lib/ebbtide_static.lib"),
            _ => ("libebbtide_capi.a", "lib/libebbtide.a"),
        }
    }

    /// The same for the files of the shared library.
    fn shared_library(self) -> &'static [(&'static str, &'static str)] {
        const DLL: (&str, &str) = ("ebbtide_capi.dll", "bin/ebbtide_capi.dll");
        match self {
            Platform::Elf => {
                &[("libebbtide_capi.so", concat!("lib/libebbtide.so.", env!("CARGO_PKG_VERSION")))]
            }
            Platform::Mac => &[("libebbtide_capi.dylib", "lib/libebbtide.0.dylib")],
            Platform::MinGw => &[DLL, ("libebbtide_capi.dll.a", "lib/libebbtide.dll.a")],
            Platform::Msvc => &[DLL, ("ebbtide_capi.dll.lib", "lib/ebbtide.lib")],
        }
    }

    /// Symbolic links to the shared library: the name that the build script gives it for the loader,
    /// and the name for the linker.
    fn links(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Platform::Elf => {
                &[(SHARED, "lib/libebbtide.so.0"), ("libebbtide.so.0", "lib/libebbtide.so")]
            }
            Platform::Mac => &[("libebbtide.0.dylib", "lib/libebbtide.dylib")],
            Platform::MinGw | Platform::Msvc => &[],
        }
    }

    /// What the static library needs.
    fn needs(self) -> &'static str {
        match self {
            Platform::MinGw | Platform::Msvc => "-lws2_32 -luserenv -lntdll -lbcrypt",
            Platform::Elf | Platform::Mac => "-lpthread -ldl -lm",
        }
    }

    /// Whether `strip` accepts a library. It fails for static libraries with the debug information of
    /// Windows.
    fn can_strip(self, library: &Path) -> bool {
        match self {
            Platform::Elf | Platform::Mac => true,
            Platform::MinGw => library.extension().is_some_and(|extension| extension == "dll"),
            Platform::Msvc => false,
        }
    }

    /// Whether the operators `new` and `delete` of transparent arenas are installed.
    fn has_transparent(self) -> bool {
        self == Platform::Elf
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    if !process::show(&options.build()).is_ok_and(|status| status.success()) {
        return Err(Failure::Work);
    }
    let prefix = below(env::var_os("DESTDIR").as_deref(), &options.prefix);
    install(&options, &prefix).map_err(|error| {
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

fn install(options: &Options, prefix: &Path) -> io::Result<()> {
    let (platform, built) = (options.platform(), options.built());
    let (lib, include) = (prefix.join("lib"), prefix.join("include"));
    let (pkgconfig, cmake) = (lib.join("pkgconfig"), lib.join("cmake/ebbtide"));
    for folder in [&include, &pkgconfig, &cmake] {
        fs::create_dir_all(folder)?;
    }
    let mut libraries = vec![platform.static_library()];
    if !options.is_static {
        libraries.extend(platform.shared_library());
    }
    let mut headers = vec![(CRATE, "ebbtide.h"), (CRATE, "ebbtide.hpp")];
    let mut files = vec![
        (CRATE, "ebbtide.pc", &pkgconfig),
        (CRATE, "ebbtide-config.cmake", &cmake),
        (CRATE, "ebbtide-config-version.cmake", &cmake),
    ];
    if platform.has_transparent() {
        libraries.push(("libebbtide_new.a", "lib/libebbtide_new_engine.a"));
        headers.extend([(TRANSPARENT, "ebbtide_new.h"), (TRANSPARENT, "ebbtide_new.hpp")]);
        files.push((TRANSPARENT, "ebbtide-new.pc", &pkgconfig));
        install_operators(&built, &lib)?;
    }
    for (from, to) in libraries {
        let to = prefix.join(to);
        fs::create_dir_all(to.parent().unwrap_or(prefix))?;
        fs::copy(built.join(from), &to)?;
        if options.strip && platform.can_strip(&to) {
            succeed(Command::new(tool("STRIP", "strip")).arg("-S").arg(to))?;
        }
    }
    if !options.is_static {
        for (to, from) in platform.links() {
            link(to, &prefix.join(from))?;
        }
    }
    for (source, header) in headers {
        fs::copy(Path::new(source).join("include").join(header), include.join(header))?;
    }
    for (source, file, folder) in files {
        let mut text = fs::read_to_string(Path::new(source).join("dist").join(file))?;
        text = text.replace("@VERSION@", VERSION).replace("@NEEDS@", platform.needs());
        if options.is_static {
            text = text.replace("\nLibs.private:", "");
        }
        fs::write(folder.join(file), text)?;
    }
    if options.archive { pack(prefix) } else { Ok(()) }
}

/// Packs a folder, with the licences, into an archive beside it.
fn pack(prefix: &Path) -> io::Result<()> {
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(licence, prefix.join(licence))?;
    }
    let prefix = std::path::absolute(prefix)?;
    let Some((folder, name)) = prefix.parent().zip(prefix.file_name()) else {
        return Err(io::Error::other("a root folder cannot be packed"));
    };
    let mut archive = prefix.clone().into_os_string();
    archive.push(".tar.gz");
    succeed(Command::new("tar").arg("-czf").arg(archive).arg("-C").arg(folder).arg(name))
}

/// Compiles and installs the operators `new` and `delete`. They are a library beside that of the
/// engine, because other tools cannot add objects to a library that Rust created.
fn install_operators(built: &Path, lib: &Path) -> io::Result<()> {
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
        let mut command = Command::new(tool(variable, default));
        command.args([standard, "-O2", "-fPIC", "-c", "-I"]).arg(source.join("include"));
        succeed(command.arg(source.join("c").join(file)).arg("-o").arg(&object))?;
        archive.push(object.into_os_string());
    }
    succeed(Command::new("ar").args(archive))
}

/// The program that a variable names, or the default one.
fn tool(variable: &str, default: &str) -> OsString {
    env::var_os(variable).unwrap_or_else(|| default.into())
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
    fn arguments_are_read_or_refused() {
        let parse = |line: &str| {
            Options::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).ok()
        };
        let plain = Options { prefix: "/usr".into(), ..Options::default() };
        assert_eq!(parse("/usr"), Some(plain));
        let all = parse("--static --strip here --target x86_64-pc-windows-gnu --archive --poison");
        let all = all.unwrap();
        assert!(all.is_static && all.strip && all.archive && all.poison);
        assert_eq!((all.prefix.to_str(), all.platform()), (Some("here"), Platform::MinGw));
        for wrong in
            ["--stat /usr", "/usr /opt", "--static", "/usr --target", "--target --strip /usr"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

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
