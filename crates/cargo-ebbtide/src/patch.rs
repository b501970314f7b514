//! How a scope is written in the language of a function.

use crate::{spelling::without_arguments, symbols::Function};

/// How a scope is written in the language of the function, which may be polled.
pub(crate) fn patch(function: &Function, is_polled: bool) -> String {
    if is_polled {
        return "ebbtide_global::ArenaFuture::new(…) around the future".to_owned();
    }
    let is_foreign = function.location.is_some() && !function.is_own();
    let place = if is_foreign { "the calls" } else { "the body" };
    match Language::of(function) {
        Language::C => {
            format!("ebb_enter() and ebb_leave(…), with ebb_malloc for malloc, around {place}")
        }
        Language::Cpp => format!("ebbtide::in_arena([&] {{ … }}) around {place}"),
        Language::Rust => {
            format!("let _scope = ebbtide_global::enter(); at the beginning of {place}")
        }
    }
}

/// The language of a function, by its file or else by its name.
enum Language {
    C,
    Cpp,
    Rust,
}

impl Language {
    fn of(function: &Function) -> Language {
        let location = function.location.as_deref().unwrap_or_default();
        let file = location.rsplit_once(':').map_or(location, |(file, _)| file);
        match file.rsplit_once('.').map(|(_, ending)| ending) {
            Some("c") => Language::C,
            Some("cc" | "cpp" | "cxx" | "h" | "hpp") => Language::Cpp,
            Some("rs") => Language::Rust,
            _ if without_arguments(&function.name) != function.name => Language::Cpp,
            _ if function.name.contains("::") => Language::Rust,
            _ => Language::C,
        }
    }
}
