//! The rules of `#[serde(rename_all = "…")]`.

/// How a name is spelled in the input.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

/// Each rule with the text that names it.
const RULES: [(&str, Rule); 8] = [
    ("lowercase", Rule::Lower),
    ("UPPERCASE", Rule::Upper),
    ("PascalCase", Rule::Pascal),
    ("camelCase", Rule::Camel),
    ("snake_case", Rule::Snake),
    ("SCREAMING_SNAKE_CASE", Rule::ScreamingSnake),
    ("kebab-case", Rule::Kebab),
    ("SCREAMING-KEBAB-CASE", Rule::ScreamingKebab),
];

impl Rule {
    /// The rule of this name, or the names of all rules.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let rule = RULES.iter().find(|(known, _)| *known == name);
        let known =
            || format!("one of {}", RULES.map(|(known, _)| format!("{known:?}")).join(", "));
        rule.map(|(_, rule)| *rule).ok_or_else(known)
    }

    /// The name of a field, which is written in `snake_case`.
    pub(crate) fn of_field(self, name: &str) -> String {
        let pascal = || name.split('_').map(capital).collect::<String>();
        match self {
            Rule::Lower | Rule::Snake => name.to_owned(),
            Rule::Upper | Rule::ScreamingSnake => name.to_ascii_uppercase(),
            Rule::Pascal => pascal(),
            Rule::Camel => uncapital(&pascal()),
            Rule::Kebab => name.replace('_', "-"),
            Rule::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// The name of a variant, which is written in `PascalCase`.
    pub(crate) fn of_variant(self, name: &str) -> String {
        let snake = || {
            let parts = name.char_indices().flat_map(|(at, c)| {
                let gap = (at > 0 && c.is_uppercase()).then_some('_');
                gap.into_iter().chain([c.to_ascii_lowercase()])
            });
            parts.collect::<String>()
        };
        match self {
            Rule::Lower => name.to_ascii_lowercase(),
            Rule::Upper => name.to_ascii_uppercase(),
            Rule::Pascal => name.to_owned(),
            Rule::Camel => uncapital(name),
            Rule::Snake => snake(),
            Rule::ScreamingSnake => snake().to_ascii_uppercase(),
            Rule::Kebab => snake().replace('_', "-"),
            Rule::ScreamingKebab => snake().to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn uncapital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}
