//! Finds a function in the files of a program.

use crate::{
    beginning::entry,
    debug_info,
    patch::patch,
    refusal::Refusal,
    run,
    spelling::{is_meant, last_name, without_arguments},
    symbols::{self, FunctionAt, Symbols},
};
use cargo_ebbtide::trial::entry::{Entry, MOST};
use object::Object;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The entries of the functions that a user names, in a program or in the first of its libraries that
/// has one; in another file if its path is in front, with a colon. Or why there are none.
pub(crate) fn named_entries(program: &Path, name: &str) -> Result<Vec<Entry>, Refusal> {
    let file = name.split_once(':').filter(|(_, name)| !name.starts_with(':'));
    match file.and_then(|(file, name)| Some((fs::canonicalize(file).ok()?, name))) {
        Some((file, name)) => entries(&[file], name),
        None => entries(&run::modules(program), name),
    }
}

/// The entries of all functions of this name, in the first of these files that has one. The first file
/// is the program.
pub(crate) fn entries(modules: &[PathBuf], name: &str) -> Result<Vec<Entry>, Refusal> {
    let (mut similar, mut callers, mut has_names) = (Vec::new(), Vec::new(), true);
    for (index, module) in modules.iter().enumerate() {
        let bytes = fs::read(module).map_err(Refusal::at(module))?;
        if bytes.starts_with(b"#!") {
            return Err(Refusal::Script(module.clone()));
        }
        let Ok(file) = object::File::parse(&*bytes) else { continue };
        let functions = symbols::functions(&file);
        let found = named(&functions, name)?;
        if found.is_empty() {
            has_names &= index > 0 || file.symbols().next().is_some();
            if run::is_system(module) {
                continue;
            }
            let into = debug_info::inlined_into(&file, name);
            let into = functions.iter().filter(|function| into.contains(&function.address));
            callers.extend(into.map(|function| without_arguments(&function.name).to_owned()));
            let last = last_name(name);
            similar.extend(functions.into_iter().map(|f| f.name).filter(|f| f.contains(last)));
            continue;
        }
        if run::is_system(module) {
            return Err(Refusal::OfTheSystem(name.to_owned()));
        }
        if let Some(made) = found.iter().find(|made| debug_info::is_async(&file, &made.name)) {
            return Err(Refusal::MakesFuture(name.to_owned(), made.name.clone()));
        }
        if found.len() > MOST {
            return Err(Refusal::TooMany(name.to_owned(), found.len()));
        }
        let entry = |function: &&FunctionAt| {
            let entry = entry(&file, &functions, function).map_err(|why| {
                let symbols = Symbols::new();
                let at = symbols.at(&module.to_string_lossy(), function);
                let by_hand = patch(&at, symbols.is_polled(&at));
                Refusal::ByHand(function.name.clone(), why.into(), by_hand)
            })?;
            Ok(Entry { module: module.clone(), ..entry })
        };
        return found.iter().map(entry).collect();
    }
    if !has_names {
        return Err(Refusal::NoNames(modules[0].to_string_lossy().into_owned()));
    }
    if !callers.is_empty() {
        return Err(Refusal::Inlined(name.to_owned(), callers));
    }
    Err(Refusal::Unknown(name.to_owned(), similar))
}

/// The functions that a name means: those of this name, or else those whose name ends in it.
fn named<'a>(functions: &'a [FunctionAt], name: &str) -> Result<Vec<&'a FunctionAt>, Refusal> {
    let whole: Vec<&FunctionAt> = functions
        .iter()
        .filter(|function| function.name == name || without_arguments(&function.name) == name)
        .collect();
    if !whole.is_empty() {
        return Ok(whole);
    }
    let ends: Vec<&FunctionAt> =
        functions.iter().filter(|function| is_meant(&function.name, name)).collect();
    let mut names: Vec<String> = ends.iter().map(|function| function.name.clone()).collect();
    names.sort();
    names.dedup();
    if names.len() > 1 {
        return Err(Refusal::NotUnique(name.to_owned(), names));
    }
    Ok(ends)
}
