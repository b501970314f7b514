//! How names of functions are spelt: in symbols, in sources, and by users.

/// The name in the source of a symbol.
pub(crate) fn source_name(symbol: &str) -> String {
    // Others would be read as types of C++: `f` as `float`.
    let is_mangled = ["_Z", "_R"].iter().any(|start| symbol.starts_with(start));
    let name =
        if is_mangled { addr2line::demangle_auto(symbol.into(), None) } else { symbol.into() };
    without_hash(&name)
}

/// The symbol of a function of which this is a part or a copy: without what compilers append.
pub(crate) fn whole_name(symbol: &str) -> &str {
    const APPENDED: [&str; 5] = [".cold", ".part.", ".constprop.", ".isra.", ".llvm."];
    let end = APPENDED.iter().filter_map(|part| symbol.find(part)).min();
    &symbol[..end.unwrap_or(symbol.len())]
}

/// A name without the hash at the end of Rust's names.
pub(crate) fn without_hash(name: &str) -> String {
    match name.rsplit_once("::h") {
        Some((front, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            front.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// A name of C++ without its arguments. Other languages' names have none.
pub(crate) fn without_arguments(name: &str) -> &str {
    let end = name.strip_suffix(" const").unwrap_or(name);
    if !end.ends_with(')') {
        return name;
    }
    let mut open = 0_usize;
    for (at, letter) in end.char_indices().rev() {
        match letter {
            ')' => open += 1,
            '(' if open == 1 => return &name[..at],
            '(' => open -= 1,
            _ => {}
        }
    }
    name
}

/// The last name of a path.
pub(crate) fn last_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Whether a function of this name in the source can be meant by a shorter one.
pub(crate) fn is_meant(whole: &str, name: &str) -> bool {
    let short = without_arguments(whole);
    let front = short.strip_suffix(name);
    whole == name || front.is_some_and(|front| front.is_empty() || front.ends_with("::"))
}

/// Three of these names at most.
pub(crate) fn some(names: &[String]) -> String {
    let mut names = names.to_vec();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    let names = format!("`{}`", names.join("`, `"));
    if more > 0 { format!("{names} and {more} others") } else { names }
}

#[cfg(test)]
mod tests {
    use super::without_arguments;

    #[test]
    fn only_the_arguments_at_the_end_of_a_name_are_left_out() {
        let names = [
            ("f(int, void (*)(int))", "f"),
            ("Document::parse(char const*) const", "Document::parse"),
            ("<F as Handler<((), T), S>>::call", "<F as Handler<((), T), S>>::call"),
            ("handle", "handle"),
        ];
        for (name, short) in names {
            assert_eq!(without_arguments(name), short);
        }
    }
}
