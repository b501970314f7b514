//! Names of functions, from debug information or, without it, from the tables of symbols.

use crate::{
    debug_info,
    lifetimes::Module,
    spelling::{source_name, whole_name},
    turns::{Code, Turns},
};
use object::{Object, ObjectSymbol};
use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    path::Path,
    rc::Rc,
};

/// What the paths of the sources of the system's libraries and of the language's have in them.
const OF_THE_SYSTEM: [&str; 4] = ["/rustc/", "/rustlib/src/", "/rust/deps/", "/usr/"];

/// A function, as it was compiled, or as it was inlined into another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Function {
    /// Its name in the source; in a file without symbols, the file and the address.
    pub(crate) name: String,
    /// The file and the line where it begins, if there is debug information.
    pub(crate) location: Option<String>,
    /// Whether it has a name.
    pub(crate) is_named: bool,
    /// The compiled function into which it is inlined.
    pub(crate) host: Option<String>,
}

impl Function {
    /// Whether it is inlined, and has no name of its own: to open a scope, one names the function around it.
    pub(crate) fn is_inlined_closure(&self) -> bool {
        self.host.is_some() && (self.name.starts_with('{') || self.name.ends_with('}'))
    }

    /// Whether it is the program's own, as far as the path of its source tells.
    pub(crate) fn is_own(&self) -> bool {
        const OF_OTHERS: [&str; 2] = ["/registry/src/", "/git/checkouts/"];
        let mut others = OF_OTHERS.iter().chain(&OF_THE_SYSTEM);
        self.location.as_ref().is_some_and(|location| !others.any(|path| location.contains(path)))
    }
}

/// A function in whose code an address lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) function: Function,
    /// Which of the calls it is that are inlined into a function; 0 for that function.
    pub(crate) inlined: usize,
    /// The file and the line in it.
    pub(crate) line: Option<(Rc<str>, u32)>,
}

impl Place {
    /// Whether two places in one frame of the stack are in the same call, as far as the code tells.
    pub(crate) fn is_in_call_of(&self, other: &Place) -> bool {
        self.inlined == other.inlined && self.function == other.function
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
    code: Code,
    polled: OnceCell<debug_info::Polled>,
}

impl File {
    fn open(path: &Path) -> File {
        let bytes = std::fs::read(path).unwrap_or_default();
        let (known, code) = object::File::parse(&*bytes)
            .map(|file| (symbols(&file), Code::of(&file)))
            .unwrap_or_default();
        let loader = addr2line::Loader::new(path).ok();
        File { loader, symbols: known, code, polled: OnceCell::new() }
    }

    /// The functions at an address of the file, by its debug information, from the outermost on: each is
    /// inlined into the one before.
    fn inlined(&self, address: u64) -> Vec<Place> {
        let mut frames = self.loader.as_ref().and_then(|loader| loader.find_frames(address).ok());
        let mut places = Vec::new();
        while let Some(Ok(Some(frame))) = frames.as_mut().map(|frames| frames.next()) {
            let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
            let name = name.map(|name| source_name(&name));
            let line = frame.location.and_then(|at| Some((at.file?.into(), at.line?)));
            let is_named = name.is_some();
            let name = name.unwrap_or_default();
            let function = Function { name, location: None, is_named, host: None };
            let inlined = frame.dw_die_offset.map_or(0, |offset| offset.0);
            places.push(Place { function, inlined, line });
        }
        places.reverse();
        // Lines alone, as debug information, name all closures alike: where one is called tells them apart.
        for inner in 1..places.len() {
            let called =
                places[inner - 1].line.clone().map(|(file, line)| format!("{file}:{line}"));
            let function = &mut places[inner].function;
            function.location = called.filter(|_| function.name.starts_with('{'));
        }
        places
    }

    /// Where loops are around the call that returns to an address, in an inlined call.
    fn turns(&self, address: u64, inlined: usize) -> Turns {
        let entry = |at: u64| self.symbol(at).map(|symbol| symbol.entry);
        let host = entry(address.wrapping_sub(1));
        // Without the names, which are a hundred for an instruction of deeply inlined code.
        let is_inside = |at: u64| {
            let mut frames = self.loader.as_ref().and_then(|loader| loader.find_frames(at).ok());
            std::iter::from_fn(|| frames.as_mut()?.next().ok().flatten())
                .any(|frame| frame.dw_die_offset.map_or(0, |offset| offset.0) == inlined)
        };
        self.code.turns(address, is_inside, |at| entry(at) == host)
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
    known: RefCell<HashMap<u64, Rc<[Place]>>>,
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
        Function { name: function.name.clone(), location, is_named: true, host: None }
    }

    /// Whether a function polls a future, or is the body of an `async` function or block, which is polled.
    pub(crate) fn is_polled(&self, function: &Function) -> bool {
        let name = &function.name;
        if !name.ends_with('}') {
            return name.ends_with("Future>::poll");
        }
        // Lines alone, as debug information, have no paths.
        if function.host.is_some() && name.starts_with("{async_") {
            return true;
        }
        let files = self.files.borrow();
        files.iter().any(|(path, file)| {
            let polled = file.polled.get_or_init(|| {
                let bytes = std::fs::read(path).unwrap_or_default();
                object::File::parse(&*bytes)
                    .map(|file| debug_info::polled(&file))
                    .unwrap_or_default()
            });
            let mut starts = file.symbols.iter().filter(|s| s.name == *name).map(|s| s.entry);
            match function.host {
                Some(_) => polled.names.contains(name),
                None => starts.any(|start| polled.addresses.contains(&start)),
            }
        })
    }

    /// Where loops are around a call that returns to this address, in an inlined call.
    pub(crate) fn turns(&self, modules: &[Module], address: u64, inlined: usize) -> Turns {
        module_of(modules, address).map_or(Turns::InBoth, |module| {
            let address = address.wrapping_sub(module.base);
            self.with_file(&module.path, |file| file.turns(address, inlined))
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

    /// The function to which this address is the return, and those inlined into it, each into the one
    /// before. Those of the language are left out: they are many, and nobody opens scopes in them.
    pub(crate) fn places(&self, modules: &[Module], address: u64) -> Rc<[Place]> {
        if let Some(known) = self.known.borrow().get(&address) {
            return Rc::clone(known);
        }
        let places: Rc<[Place]> = self.find(modules, address).into();
        self.known.borrow_mut().insert(address, Rc::clone(&places));
        places
    }

    fn find(&self, modules: &[Module], address: u64) -> Vec<Place> {
        let unknown = |name| {
            let function = Function { name, location: None, is_named: false, host: None };
            vec![Place { function, inlined: 0, line: None }]
        };
        let Some(module) = module_of(modules, address) else {
            return unknown(format!("{address:#x}"));
        };
        let in_file = module.in_file(address);
        self.with_file(&module.path, |file| {
            let mut places = file.inlined(in_file);
            // Symbols have whole names; lines alone, as debug information, have not.
            let symbol = file.symbol(in_file).map(|symbol| symbol.name.clone());
            let described = places.first().filter(|place| place.function.is_named);
            let Some(host) = symbol.or_else(|| described.map(|place| place.function.name.clone()))
            else {
                let file_name = module.path.rsplit('/').next().unwrap_or_default();
                return unknown(format!("{file_name}+{in_file:#x}"));
            };
            let line = if places.is_empty() { None } else { places.remove(0).line };
            places.retain(|place| {
                let function = &place.function;
                let is_shown = place
                    .line
                    .as_ref()
                    .is_some_and(|(file, _)| !OF_THE_SYSTEM.iter().any(|path| file.contains(path)));
                is_shown && function.is_named && function.name != host
            });
            places.iter_mut().for_each(|place| place.function.host = Some(host.clone()));
            let location = file.location(in_file);
            let function = Function { name: host, location, is_named: true, host: None };
            places.insert(0, Place { function, inlined: 0, line });
            places
        })
    }
}

fn module_of(modules: &[Module], address: u64) -> Option<&Module> {
    modules.iter().rev().find(|module| (module.start..module.end).contains(&address))
}
