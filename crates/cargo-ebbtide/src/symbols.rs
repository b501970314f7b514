//! Names of functions, from debug information or, without it, from the tables of symbols.

use crate::{
    debug_info,
    lifetimes::Module,
    spelling::{source_name, whole_name, without_hash},
};
use object::{Object, ObjectSymbol};
use std::{cell::RefCell, collections::HashMap, path::Path};

/// A function, as it was compiled: what is inlined into it belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Function {
    /// Its name in the source; in a file without symbols, the file and the address.
    pub(crate) name: String,
    /// The file and the line where it begins, if there is debug information.
    pub(crate) location: Option<String>,
    /// Whether there is a symbol for it.
    pub(crate) is_named: bool,
}

impl Function {
    /// Whether it is the program's own, as far as the path of its source tells.
    pub(crate) fn is_own(&self) -> bool {
        const OTHERS: [&str; 4] = ["/registry/src/", "/git/checkouts/", "/rustc/", "/usr/"];
        let of_others = |location: &String| OTHERS.iter().any(|path| location.contains(path));
        self.location.as_ref().is_some_and(|location| !of_others(location))
    }
}

/// A function in the tables of symbols, or a part of one: compilers split and copy functions.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    start: u64,
    size: u64,
    /// The name in the source.
    name: String,
    /// Where the whole function begins.
    entry: u64,
    /// Whether it is more than a part of a function.
    is_called: bool,
}

/// A file with code.
struct File {
    loader: Option<addr2line::Loader>,
    symbols: Vec<Symbol>,
}

impl File {
    fn open(path: &Path) -> File {
        let bytes = std::fs::read(path).unwrap_or_default();
        let symbols = object::File::parse(&*bytes).map(|file| symbols(&file)).unwrap_or_default();
        File { loader: addr2line::Loader::new(path).ok(), symbols }
    }

    /// The name of the function at an address of the file, by its debug information: of the last of
    /// those that are inlined into one another.
    fn outermost(&self, address: u64) -> Option<String> {
        let mut frames = self.loader.as_ref()?.find_frames(address).ok()?;
        let mut name = None;
        while let Ok(Some(frame)) = frames.next() {
            name = frame.function.and_then(|function| Some(function.demangle().ok()?.into_owned()));
        }
        name
    }

    /// The function at an address of the file.
    fn symbol(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol = self.symbols[..after].last()?;
        (address - symbol.start < symbol.size).then_some(symbol)
    }

    /// The file and the line where the function at an address begins.
    fn location(&self, address: u64) -> Option<String> {
        let entry = self.symbol(address).map_or(address, |symbol| symbol.entry);
        let location = self.loader.as_ref()?.find_location(entry).ok()??;
        Some(format!("{}:{}", location.file?, location.line?))
    }
}

/// The symbols of a file, by address.
fn symbols(file: &object::File<'_>) -> Vec<Symbol> {
    let functions = || {
        let all = file.symbols().chain(file.dynamic_symbols());
        all.filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 0)
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?)))
    };
    let whole: HashMap<&str, u64> = functions().map(|(start, _, name)| (name, start)).collect();
    let mut symbols: Vec<Symbol> = functions()
        .map(|(start, size, name)| {
            let of = whole_name(name);
            let is_part = of.len() < name.len();
            let entry = whole.get(of).copied().filter(|_| is_part).unwrap_or(start);
            let is_called = ![".cold", ".part."].iter().any(|appended| name.contains(appended));
            Symbol { start, size, name: source_name(of), entry, is_called }
        })
        .collect();
    symbols.sort();
    symbols
}

/// A function that is called at this address of its file.
#[derive(Debug)]
pub(crate) struct FunctionAt {
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// The name in the source.
    pub(crate) name: String,
}

/// The functions of a file that are called, with their copies.
pub(crate) fn functions(file: &object::File<'_>) -> Vec<FunctionAt> {
    let mut symbols = symbols(file);
    symbols.dedup_by_key(|symbol| (symbol.start, symbol.name.clone()));
    let called = symbols.into_iter().filter(|symbol| symbol.is_called);
    called.map(|s| FunctionAt { address: s.start, size: s.size, name: s.name }).collect()
}

/// The functions of the files of a program.
pub(crate) struct Symbols {
    files: RefCell<HashMap<String, File>>,
    known: RefCell<HashMap<u64, Function>>,
}

impl Symbols {
    pub(crate) fn new() -> Symbols {
        Symbols { files: RefCell::default(), known: RefCell::default() }
    }

    /// Whether a file has names for its functions.
    pub(crate) fn has_names(&self, path: &str) -> bool {
        self.with_file(path, |file| !file.symbols.is_empty())
    }

    fn with_file<R>(&self, path: &str, f: impl FnOnce(&File) -> R) -> R {
        let mut files = self.files.borrow_mut();
        let file = files.entry(path.to_owned()).or_insert_with(|| File::open(Path::new(path)));
        f(file)
    }

    /// The function that begins at an address of a file.
    pub(crate) fn at(&self, path: &str, function: &FunctionAt) -> Function {
        let location = self.with_file(path, |file| file.location(function.address));
        Function { name: function.name.clone(), location, is_named: true }
    }

    /// Whether a function of this name polls a future, or is the body of an `async` function or block,
    /// which is polled.
    pub(crate) fn is_polled(&self, name: &str) -> bool {
        if !name.ends_with('}') {
            return name.ends_with("Future>::poll");
        }
        let files = self.files.borrow();
        files.iter().any(|(path, file)| {
            let starts: Vec<u64> =
                file.symbols.iter().filter(|s| s.name == name).map(|s| s.entry).collect();
            !starts.is_empty() && {
                let bytes = std::fs::read(path).unwrap_or_default();
                let polled = object::File::parse(&*bytes).map(|file| debug_info::polled(&file));
                polled.is_ok_and(|polled| starts.iter().any(|start| polled.contains(start)))
            }
        })
    }

    /// Whether two addresses lie in the same function.
    pub(crate) fn same_function(&self, modules: &[Module], one: u64, other: u64) -> bool {
        let start = |address| {
            let module = module_of(modules, address)?;
            let start = self.with_file(&module.path, |file| {
                file.symbol(module.in_file(address)).map(|symbol| symbol.entry)
            })?;
            Some(module.base.wrapping_add(start))
        };
        start(one).is_some_and(|start_of_one| Some(start_of_one) == start(other))
    }

    /// The function to which this address is the return.
    pub(crate) fn function(&self, modules: &[Module], address: u64) -> Function {
        if let Some(known) = self.known.borrow().get(&address) {
            return known.clone();
        }
        let function = self.find(modules, address);
        self.known.borrow_mut().insert(address, function.clone());
        function
    }

    fn find(&self, modules: &[Module], address: u64) -> Function {
        let Some(module) = module_of(modules, address) else {
            let name = format!("{address:#x}");
            return Function { name, location: None, is_named: false };
        };
        let in_file = module.in_file(address);
        self.with_file(&module.path, |file| {
            // Symbols have whole names; lines alone, as debug information, have not.
            let name = file.symbol(in_file).map(|symbol| symbol.name.clone());
            match name.or_else(|| Some(without_hash(&file.outermost(in_file)?))) {
                Some(name) => Function { name, location: file.location(in_file), is_named: true },
                None => {
                    let file_name = module.path.rsplit('/').next().unwrap_or_default();
                    let name = format!("{file_name}+{in_file:#x}");
                    Function { name, location: None, is_named: false }
                }
            }
        })
    }
}

fn module_of(modules: &[Module], address: u64) -> Option<&Module> {
    modules.iter().rev().find(|module| (module.start..module.end).contains(&address))
}
