//! `cargo xtask header`: writes the declarations of `ebbtide.h` from the source of `ebbtide-capi`.
//!
//! Only the text between two marks is generated: a declaration with its comment for each function
//! that the library exports. The rest of the header, inline functions and their types, is written
//! by hand; assertions on both sides hold the types together.
//!
//! cbindgen writes whole headers, with types that have no inline functions. What is left for it are the
//! declarations, and the test that compares them would need it installed.

use crate::Failure;
use std::{fs, io, path::Path};

const HEADER: &str = "crates/ebbtide-capi/include/ebbtide.h";
const SOURCES: &str = "crates/ebbtide-capi/src";
/// In the order of the header.
const FILES: [&str; 8] = ["lib", "status", "arena", "thread", "stats", "scope", "places", "heap"];
const BEGIN: &str = "/* Generated from the library's source by `cargo xtask header`: begin. */\n";
const END: &str = "/* Generated: end. */\n";
const WIDTH: usize = 100;

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::Usage(format!("unknown arguments: header {}", arguments.join(" "))));
    }
    let written = generated(Path::new(".")).and_then(|new| fs::write(HEADER, new));
    written.map_err(|error| {
        eprintln!("{HEADER}: {error}");
        Failure::Work
    })
}

/// The header with regenerated declarations.
fn generated(root: &Path) -> io::Result<String> {
    let header = fs::read_to_string(root.join(HEADER))?;
    let mut declarations = String::new();
    for file in FILES {
        let source = fs::read_to_string(root.join(SOURCES).join(format!("{file}.rs")))?;
        declarations += &declared(&source);
    }
    let marks = header.split_once(BEGIN).and_then(|(before, rest)| {
        rest.split_once(END).map(|(_, after)| format!("{before}{BEGIN}{declarations}{END}{after}"))
    });
    marks.ok_or_else(|| io::Error::other("the marks of the generated part are not there"))
}

/// The declarations of the functions that a file exports.
fn declared(source: &str) -> String {
    let mut found = String::new();
    let mut doc: Vec<&str> = Vec::new();
    let mut exported = false;
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text);
        } else if line.contains("(no_mangle)") {
            exported = true;
        } else if exported {
            let mut signature = line.to_owned();
            while !signature.ends_with('{') {
                let Some(more) = lines.next() else { break };
                signature += more;
            }
            found += &comment(&doc);
            found += &prototype(&signature);
            exported = false;
            doc.clear();
        } else {
            doc.clear();
        }
    }
    found
}

/// A comment for editors and doxygen: links to items become plain code.
fn comment(doc: &[&str]) -> String {
    let text: Vec<String> = doc
        .iter()
        .map(|line| {
            let mut plain = String::new();
            let mut rest = *line;
            while let Some(start) = rest.find("[`") {
                plain += &rest[..start];
                rest = &rest[start + 1..];
                let end = rest.find("`]").map_or(rest.len(), |end| end + 1);
                plain += &rest[..end];
                rest = rest[end..].trim_start_matches(']');
                rest = match rest.strip_prefix('(') {
                    Some(link) => link.split_once(')').map_or("", |(_, after)| after),
                    None => rest,
                };
            }
            plain + rest
        })
        .collect();
    format!("\n/**{} */\n", text.join("\n * ").replace(" *  ", " * "))
}

/// The C declaration for a Rust signature.
fn prototype(signature: &str) -> String {
    let signature = signature.split(" fn ").nth(1).unwrap_or(signature);
    let signature = signature.trim_end_matches('{').trim();
    // The last parenthesis of the parameters: what follows is the result, which has none.
    let (head, result) = signature
        .rsplit_once(" -> ")
        .filter(|(head, _)| head.ends_with(')'))
        .unwrap_or((signature, "()"));
    let (name, parameters) = head.split_once('(').unwrap_or((head, ""));
    let parameters = parameters.trim().trim_end_matches(')').trim().trim_end_matches(',');
    let mut list: Vec<String> = Vec::new();
    for parameter in outer_commas(parameters) {
        if let Some((name, kind)) = parameter.split_once(':') {
            list.push(declarator(kind.trim(), name.trim()));
        }
    }
    if list.is_empty() {
        list.push("void".to_owned());
    }
    let start = format!("{}(", declarator(result, name));
    let mut line = start.clone();
    let mut text = String::new();
    for (index, parameter) in list.iter().enumerate() {
        let end = if index + 1 == list.len() { ");" } else { "," };
        if line.len() + parameter.len() + end.len() + 1 > WIDTH && line.len() > start.len() {
            text += line.trim_end();
            text += "\n";
            line = " ".repeat(start.len());
        }
        line += parameter;
        line += end;
        line += if end == "," { " " } else { "" };
    }
    text + &line + "\n"
}

/// Splits at commas outside of parentheses.
fn outer_commas(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// The C declaration of `name` for a Rust type.
fn declarator(kind: &str, name: &str) -> String {
    if let Some(function) = kind.strip_prefix("Option<unsafe extern \"C\" fn(") {
        let parameters = function.trim_end_matches('>').trim_end_matches(')');
        let parameters: Vec<String> = outer_commas(parameters)
            .iter()
            .filter_map(|parameter| parameter.split_once(':'))
            .map(|(name, kind)| declarator(kind.trim(), name.trim()))
            .collect();
        return format!("void (*{name})({})", parameters.join(", "));
    }
    let (pointee, is_const) = match (kind.strip_prefix("*const "), kind.strip_prefix("*mut ")) {
        (Some(pointee), _) => (pointee, true),
        (_, Some(pointee)) => (pointee, false),
        _ => return format!("{} {name}", type_of(kind)),
    };
    let qualifier = if is_const { "const " } else { "" };
    format!("{qualifier}{}", declarator(pointee, &format!("*{name}")))
}

fn type_of(name: &str) -> &str {
    match name {
        "()" | "c_void" => "void",
        "usize" => "size_t",
        "u32" => "uint32_t",
        "c_int" => "int",
        "c_uint" => "unsigned",
        "c_char" => "char",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_declares_what_the_library_exports() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let header = fs::read_to_string(root.join(HEADER)).expect("the header can be read");
        let new = generated(&root).expect("the sources can be read");
        assert!(header == new, "run `cargo xtask header`, and look at the difference");
        let exported = FILES.map(|file| {
            let source = fs::read_to_string(root.join(SOURCES).join(format!("{file}.rs")));
            source.expect("the sources can be read").matches("(no_mangle)").count()
        });
        let declared = new.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
        let declared = declared.map_or(0, |(part, _)| part.matches(");\n").count());
        assert_eq!(exported.iter().sum::<usize>(), declared);
    }

    #[test]
    fn the_status_codes_have_the_same_numbers() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let numbers = |file: &str| -> Vec<String> {
            let text = fs::read_to_string(root.join(file)).expect("the file can be read");
            let codes =
                text.split("enum ebb_status {").nth(1).and_then(|rest| rest.split('}').next());
            let lines = codes.expect("the codes are there").lines();
            // `EBB_OK = 0`, without the comment of C or the comma of Rust.
            let code = |line: &str| Some(line.trim().split(['/', ',']).next()?.trim().to_owned());
            lines.filter_map(code).filter(|code| code.contains(" = ")).collect()
        };
        assert_eq!(numbers(HEADER), numbers("crates/ebbtide-capi/src/status.rs"));
    }

    #[test]
    fn a_signature_becomes_a_declaration() {
        let source = "
            /// Not exported.
            fn other() {}
/// Takes [`a`](link) and [`b`].
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn ebb_f(
    a: *mut c_void,
    b: Option<unsafe extern \"C\" fn(x: *const c_void, n: usize)>,
) -> *const c_char {
";
        let expected = "\n/** Takes `a` and `b`. */\nconst char *ebb_f(void *a, \
                        void (*b)(const void *x, size_t n));\n";
        assert_eq!(declared(source), expected);
        assert_eq!(prototype("pub extern \"C\" fn ebb_g() -> u32 {"), "uint32_t ebb_g(void);\n");
        assert_eq!(prototype("pub extern \"C\" fn ebb_h(n: usize) {"), "void ebb_h(size_t n);\n");
    }
}
