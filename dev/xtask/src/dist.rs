//! `cargo xtask dist PREFIX`: installs the C interface: its libraries, the transparent arenas, the
//! headers, pkg-config files, a `CMake` package, and printers for gdb. If `DESTDIR` is set, they go
//! to PREFIX below that folder, as packagers expect.
//!
//! The files find each other by relative paths, so the folder can be moved as a whole.
//!
//! Cargo's static libraries have all of Rust's standard library in them. The profile `dist` removes
//! what is unused inside of each object; on ELF systems the linker then joins what is left to one
//! object, whose only global symbols are our functions. cargo-c, which installs libraries with headers and
//! pkg-config files, leaves all symbols global, and has no freestanding library.

use crate::{Failure, process};
use std::{
    collections::BTreeSet,
    env,
    ffi::OsStr,
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
  --target TRIPLE  for another platform that cargo can link for; CC, CXX, AR, NM, OBJCOPY and STRIP
                   name its tools, with options if need be: CC='gcc -m32'
  --static         without the shared library
  --freestanding   the static library of C alone, without Rust's runtime: no heap, no threads
  --strip          without debug information
  --poison         transparent arenas overwrite freed blocks with 0xDE, to find mistakes
  --archive        also packs the folder into PREFIX.tar.gz";

/// What the arguments ask for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    prefix: PathBuf,
    target: Option<String>,
    is_static: bool,
    freestanding: bool,
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
                "--freestanding" => (options.is_static, options.freestanding) = (true, true),
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

    /// The commands that build the libraries. Cargo optimises no library as a whole that it builds
    /// for Rust as well, so they name the kinds that are installed.
    fn build(&self) -> Vec<String> {
        // Our own part; `strip` removes that of the standard library.
        let mut cargo =
            String::from(if self.strip { "CARGO_PROFILE_DIST_DEBUG=false " } else { "" });
        cargo += "cargo rustc --profile dist --lib";
        if let Some(triple) = &self.target {
            cargo += &format!(" --target {triple}");
        }
        let kinds = if self.is_static { "staticlib" } else { "staticlib,cdylib" };
        let features = if self.freestanding { " --no-default-features" } else { "" };
        let mut lines =
            vec![format!("{cargo} --package ebbtide-capi --crate-type {kinds}{features}")];
        if self.has_transparent() {
            // Exceptions of C++ pass through its functions.
            let poison = if self.poison { " --features poison" } else { "" };
            lines.push(format!(
                "CARGO_PROFILE_DIST_PANIC=unwind {cargo} --package ebbtide-new \
                 --crate-type staticlib{poison}"
            ));
        }
        lines
    }

    /// Where cargo puts them.
    fn built(&self) -> PathBuf {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        target.join(self.target.as_deref().unwrap_or_default()).join("dist")
    }

    /// Whether the operators `new` and `delete` of transparent arenas are installed.
    fn has_transparent(&self) -> bool {
        self.platform() == Platform::Elf && !self.freestanding
    }

    /// What the static library needs.
    fn needs(&self) -> &'static str {
        match self.platform() {
            _ if self.freestanding => "",
            Platform::MinGw | Platform::Msvc => "-lws2_32 -luserenv -lntdll -lbcrypt",
            Platform::Elf | Platform::Mac => "-lpthread -ldl -lm",
        }
    }

    /// The compiler that a variable names, or the default one, for the target. As rustc does, this
    /// asks compilers of x86 for its word size.
    fn compiler(&self, variable: &str, default: &str) -> Command {
        let mut compiler = tool(variable, default);
        let flag = self.target.as_deref().and_then(|triple| match triple.split('-').next()? {
            "i586" | "i686" => Some("-m32"),
            "x86_64" if !triple.ends_with("x32") => Some("-m64"),
            _ => None,
        });
        compiler.args(flag);
        compiler
    }

    /// Checks that a compiler makes objects for the same machine as a library of cargo's. It compiles
    /// an empty file, since one for another machine may lack the headers that our sources need.
    fn check(&self, variable: &str, default: &str, library: &Path) -> io::Result<()> {
        let empty = library.with_extension("empty.o");
        let mut compile = self.compiler(variable, default);
        succeed(compile.args(["-x", "c", "-c", "/dev/null", "-o"]).arg(&empty))?;
        if machine(&empty)? == machine(library)? {
            return Ok(());
        }
        let target = self.target.as_deref().unwrap_or("this machine");
        let set = "to a compiler for it, with its options";
        Err(io::Error::other(format!(
            "{variable} does not compile for {target}: set {variable} {set}"
        )))
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

    /// Whether `strip` accepts a library. It fails for static libraries with the debug information of
    /// Windows.
    fn can_strip(self, library: &Path) -> bool {
        match self {
            Platform::Elf | Platform::Mac => true,
            Platform::MinGw => library.extension().is_some_and(|extension| extension == "dll"),
            Platform::Msvc => false,
        }
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    for line in options.build() {
        if !process::show(&line).is_ok_and(|status| status.success()) {
            return Err(Failure::Work);
        }
    }
    let prefix = below(env::var_os("DESTDIR").as_deref(), &options.prefix);
    install(&options, &prefix).map_err(|error| {
        eprintln!("{}: {error}", prefix.display());
        Failure::Work
    })
}

/// Makes all files in a folder below the prefix, and moves them to their places only once all of them
/// are there. A failure leaves the prefix as it was.
fn install(options: &Options, prefix: &Path) -> io::Result<()> {
    let is_new = !prefix.exists();
    let stage = prefix.join(".ebbtide-dist");
    let installed = prepare(options, &stage).and_then(|()| publish(&stage, prefix));
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    if installed.is_err() && is_new {
        // Not if another program has put something there.
        let _ = fs::remove_dir(prefix);
    }
    installed?;
    if options.archive { pack(prefix) } else { Ok(()) }
}

/// Moves the files below a folder to the same places below the prefix, each in one step. All folders
/// are created first, which is where permissions are missing, if they are.
fn publish(stage: &Path, prefix: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        fs::create_dir_all(prefix.join(&folder))?;
        for entry in fs::read_dir(stage.join(&folder))? {
            let entry = entry?;
            let place = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() { folders.push(place) } else { files.push(place) }
        }
    }
    files.iter().try_for_each(|file| fs::rename(stage.join(file), prefix.join(file)))
}

/// The prefix below a staging folder, from which packagers move it.
fn below(staging: Option<&OsStr>, prefix: &Path) -> PathBuf {
    let staging = staging.unwrap_or_default();
    let inside =
        if staging.is_empty() { prefix } else { prefix.strip_prefix("/").unwrap_or(prefix) };
    Path::new(staging).join(inside)
}

/// Makes all files that are installed.
fn prepare(options: &Options, prefix: &Path) -> io::Result<()> {
    if prefix.exists() {
        // An earlier installation was interrupted.
        fs::remove_dir_all(prefix)?;
    }
    let (platform, built) = (options.platform(), options.built());
    let (lib, include) = (prefix.join("lib"), prefix.join("include"));
    let (pkgconfig, cmake) = (lib.join("pkgconfig"), lib.join("cmake/ebbtide"));
    let share = prefix.join("share/ebbtide");
    for folder in [&include, &pkgconfig, &cmake, &share] {
        fs::create_dir_all(folder)?;
    }
    let mut static_libraries = vec![platform.static_library()];
    let mut sources = vec![CRATE];
    let mut files = vec![
        (CRATE, "ebbtide.pc", &pkgconfig),
        (CRATE, "ebbtide-config.cmake", &cmake),
        (CRATE, "ebbtide-config-version.cmake", &cmake),
        (CRATE, "ebbtide-gdb.py", &share),
    ];
    if options.has_transparent() {
        static_libraries.push(("libebbtide_new.a", "lib/libebbtide_new_engine.a"));
        sources.push(TRANSPARENT);
        files.push((TRANSPARENT, "ebbtide-new.pc", &pkgconfig));
        install_operators(options, &built, &lib)?;
    }
    for (from, to) in static_libraries {
        let (from, to) = (built.join(from), prefix.join(to));
        if platform == Platform::Elf {
            join(options, &from, &to)?;
        } else {
            fs::copy(from, &to)?;
        }
        strip(options, &to)?;
    }
    if !options.is_static {
        for (from, to) in platform.shared_library() {
            let to = prefix.join(to);
            fs::create_dir_all(to.parent().unwrap_or(prefix))?;
            fs::copy(built.join(from), &to)?;
            strip(options, &to)?;
        }
        for (to, from) in platform.links() {
            link(to, &prefix.join(from))?;
        }
    }
    for source in sources {
        for header in fs::read_dir(Path::new(source).join("include"))? {
            let header = header?;
            fs::copy(header.path(), include.join(header.file_name()))?;
        }
    }
    for (source, file, folder) in files {
        let mut text = fs::read_to_string(Path::new(source).join("dist").join(file))?;
        text = text.replace("@VERSION@", VERSION).replace("@NEEDS@", options.needs());
        if options.is_static {
            text = text.replace("\nLibs.private:", "");
        }
        fs::write(folder.join(file), text)?;
    }
    if options.archive {
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            fs::copy(licence, prefix.join(licence))?;
        }
    }
    Ok(())
}

/// Joins the parts of a static library that our functions need to one object. Other symbols become
/// local, so that a program may contain several libraries that were written in Rust.
fn join(options: &Options, from: &Path, to: &Path) -> io::Result<()> {
    options.check("CC", "cc", from)?;
    let symbols = tool("NM", "nm").args(["-gP", "--defined-only"]).arg(from).output()?;
    let symbols = String::from_utf8_lossy(&symbols.stdout);
    let ours: BTreeSet<_> = symbols.lines().filter_map(|line| line.split(' ').next()).collect();
    let ours = ours.into_iter().filter(|name| name.starts_with("ebb_"));
    let object = from.with_extension("o");
    let mut link = options.compiler("CC", "cc");
    link.args(["-r", "-nostdlib", "-Wl,--gc-sections"]);
    link.args(ours.map(|name| format!("-Wl,-u,{name}"))).arg(from).arg("-o").arg(&object);
    succeed(&mut link)?;
    let mut localise = tool("OBJCOPY", "objcopy");
    succeed(localise.args(["--wildcard", "--keep-global-symbol=ebb_*"]).arg(&object))?;
    archive(to, &[object])
}

/// Creates a static library of these objects.
fn archive(library: &Path, objects: &[PathBuf]) -> io::Result<()> {
    succeed(tool("AR", "ar").arg("rcs").arg(library).args(objects))
}

/// Removes the debug information of a library, if that is asked for and possible, and the symbols
/// that nothing refers to.
fn strip(options: &Options, library: &Path) -> io::Result<()> {
    if !options.strip || !options.platform().can_strip(library) {
        return Ok(());
    }
    let kind = if options.platform() == Platform::Mac { "-S" } else { "--strip-unneeded" };
    succeed(tool("STRIP", "strip").arg(kind).arg(library))
}

/// Packs a folder into an archive beside it.
fn pack(prefix: &Path) -> io::Result<()> {
    let prefix = std::path::absolute(prefix)?;
    let Some((folder, name)) = prefix.parent().zip(prefix.file_name()) else {
        return Err(io::Error::other("a root folder cannot be packed"));
    };
    let mut archive = prefix.clone().into_os_string();
    archive.push(".tar.gz");
    succeed(Command::new("tar").arg("-czf").arg(archive).arg("-C").arg(folder).arg(name))
}

/// Compiles and installs the operators `new` and `delete`, as a library beside that of the engine.
fn install_operators(options: &Options, built: &Path, lib: &Path) -> io::Result<()> {
    let objects = built.join("ebbtide-new");
    fs::create_dir_all(&objects)?;
    let mut compiled = Vec::new();
    for (variable, default, standard, file) in
        [("CC", "cc", "-std=c11", "malloc.c"), ("CXX", "c++", "-std=c++17", "operators.cpp")]
    {
        let source = Path::new(TRANSPARENT);
        let object = objects.join(file).with_extension("o");
        options.check(variable, default, &built.join("libebbtide_new.a"))?;
        let mut command = options.compiler(variable, default);
        command.args([standard, "-O2", "-fPIC", "-c", "-I"]).arg(source.join("include"));
        succeed(command.arg(source.join("c").join(file)).arg("-o").arg(&object))?;
        compiled.push(object);
    }
    archive(&lib.join("libebbtide_new.a"), &compiled)
}

/// What the first object of a file is made for: its class, byte order and machine, if it is an object
/// of ELF or a static library of such objects.
fn machine(file: &Path) -> io::Result<Option<[u8; 4]>> {
    let bytes = fs::read(file)?;
    let start = bytes.windows(4).position(|window| window == b"\x7fELF");
    let header = start.and_then(|start| bytes.get(start..start + 20));
    Ok(header.map(|header| [header[4], header[5], header[18], header[19]]))
}

/// The program that a variable names, or the default one. As in a makefile, words after the first
/// are its first arguments: `CC="ccache gcc -m32"`. The name of a file may contain spaces.
fn tool(variable: &str, default: &str) -> Command {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    command(&value.unwrap_or_else(|| default.into()))
}

fn command(value: &OsStr) -> Command {
    let text = value.to_str().filter(|_| !Path::new(value).exists());
    let mut words = text.map(str::split_whitespace).into_iter().flatten();
    let Some(program) = words.next() else {
        return Command::new(value);
    };
    let mut command = Command::new(program);
    command.args(words);
    command
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(io::Error::other(format!("{program}: {status}"))),
        Err(error) => Err(io::Error::new(error.kind(), format!("{program}: {error}"))),
    }
}

/// Creates a symbolic link.
#[cfg(unix)]
fn link(to: &str, from: &Path) -> io::Result<()> {
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
    fn tools_may_have_options() {
        let words = |value: &str| {
            let command = super::command(OsStr::new(value));
            let words = [command.get_program()].into_iter().chain(command.get_args());
            words.map(|word| word.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words("cc"), ["cc"]);
        assert_eq!(words("  ccache gcc  -m32 "), ["ccache", "gcc", "-m32"]);
        let file = env::temp_dir().join(format!("the compiler {}", std::process::id()));
        fs::write(&file, "").unwrap();
        assert_eq!(words(file.to_str().unwrap()), [file.to_str().unwrap()]);
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn packages_have_the_version_of_the_workspace() {
        let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
        for (file, version) in [
            ("debian/changelog", format!("ebbtide ({VERSION}-")),
            ("vcpkg/ebbtide/vcpkg.json", format!("\"version\": \"{VERSION}\"")),
        ] {
            let text = fs::read_to_string(packaging.join(file)).unwrap();
            assert!(text.contains(&version), "{file} has no {version}");
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
