//! Splits Rust into tokens. Accepts any text, whether or not it would compile.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword.
    Name,
    Number,
    /// A string, byte string, character or byte, quotes included.
    Literal,
    Lifetime,
    Open,
    Close,
    /// An operator of up to three characters.
    Punctuation,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
}

/// The tokens of a text, in order, without space and comments.
#[derive(Clone)]
pub(crate) struct Tokens<'t> {
    rest: &'t str,
}

pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            self.rest = self.rest.trim_start();
            match comment_len(self.rest) {
                Some(len) => self.rest = &self.rest[len..],
                None => break,
            }
        }
        let first = *self.rest.as_bytes().first()?;
        let (kind, len) = match first {
            b'(' | b'[' | b'{' => (Kind::Open, 1),
            b')' | b']' | b'}' => (Kind::Close, 1),
            b'0'..=b'9' => (Kind::Number, number_len(self.rest)),
            b'"' => (Kind::Literal, quoted_len(self.rest, 1, b'"')),
            b'\'' => quote(self.rest),
            b'r' | b'b' | b'c' => prefixed(self.rest),
            _ => match name_len(self.rest) {
                0 => (Kind::Punctuation, operator_len(self.rest)),
                len => (Kind::Name, len),
            },
        };
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        Some(Token { kind, text })
    }
}

/// Operators of more than one character, longer ones first.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "..=", "...", "->", "=>", "::", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "^=", "&=", "|=", "<<", ">>", "..",
];

fn operator_len(text: &str) -> usize {
    let longer = OPERATORS.iter().find(|operator| text.starts_with(**operator));
    let first_len = || text.chars().next().map_or(0, char::len_utf8);
    longer.map_or_else(first_len, |operator| operator.len())
}

fn is_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The length of the longest prefix of `text` whose characters all satisfy `belongs`.
fn prefix_len(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn name_len(text: &str) -> usize {
    let is_ascii_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    let len = bytes.iter().position(|byte| !is_ascii_name(byte)).unwrap_or(bytes.len());
    match bytes.get(len) {
        Some(0x80..) => len + prefix_len(&text[len..], is_name),
        _ => len,
    }
}

/// `1`, `0xFF_u8`, `1.5`, `2.5e-3`: but `1` of `1..2` and of `1.max(2)`.
fn number_len(text: &str) -> usize {
    let mut len = name_len(text);
    if let Some([b'.', b'0'..=b'9']) = text.as_bytes().get(len..len + 2) {
        len += 1 + name_len(&text[len + 1..]);
    }
    let decimal = !text.starts_with("0x");
    if decimal && text[..len].ends_with(['e', 'E']) && text[len..].starts_with(['+', '-']) {
        len += 1 + name_len(&text[len + 1..]);
    }
    len
}

/// The length of the comment that `text` begins with, if it does.
fn comment_len(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(prefix_len(text, |c| c != '\n'));
    }
    text.starts_with("/*").then(|| {
        let bytes = text.as_bytes();
        let (mut at, mut depth) = (2, 1);
        while depth > 0 && at < bytes.len() {
            match bytes.get(at..at + 2) {
                Some(b"/*") => (at, depth) = (at + 2, depth + 1),
                Some(b"*/") => (at, depth) = (at + 2, depth - 1),
                _ => at += 1,
            }
        }
        at
    })
}

/// The length of a literal whose text begins at `start` and ends with `quote`. An unclosed literal
/// extends to the end of `text`.
fn quoted_len(text: &str, start: usize, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// A character literal or a lifetime.
fn quote(text: &str) -> (Kind, usize) {
    let mut after = text[1..].chars();
    match (after.next(), after.next()) {
        (Some('\\'), _) => (Kind::Literal, quoted_len(text, 1, b'\'')),
        (Some(c), Some('\'')) => (Kind::Literal, 2 + c.len_utf8()),
        (Some(c), _) if is_name(c) => (Kind::Lifetime, 1 + name_len(&text[1..])),
        _ => (Kind::Punctuation, 1),
    }
}

/// A token that starts with `r`, `b` or `c`: `r"…"`, `br#"…"#`, `b"…"`, `b'…'`, `c"…"`, `r#name`,
/// or a name.
fn prefixed(text: &str) -> (Kind, usize) {
    let prefix = prefix_len(text, |c| matches!(c, 'r' | 'b' | 'c'));
    let after = &text[prefix..];
    match &text[..prefix] {
        "b" | "c" if after.starts_with('"') => (Kind::Literal, quoted_len(text, prefix + 1, b'"')),
        "b" if after.starts_with('\'') => (Kind::Literal, quoted_len(text, prefix + 1, b'\'')),
        "r" | "br" | "cr" if after.starts_with(['"', '#']) => {
            let hashes = prefix_len(after, |c| c == '#');
            if after[hashes..].starts_with('"') {
                let start = prefix + hashes + 1;
                let end = raw_end(&text[start..], hashes).map_or(text.len(), |len| start + len);
                (Kind::Literal, end)
            } else if hashes == 1 && after[1..].starts_with(is_name) {
                (Kind::Name, prefix + 1 + name_len(&after[1..]))
            } else {
                (Kind::Name, prefix)
            }
        }
        _ => (Kind::Name, name_len(text)),
    }
}

/// The end of a raw string: after a quote and `hashes` hashes.
fn raw_end(text: &str, hashes: usize) -> Option<usize> {
    text.match_indices('"')
        .map(|(at, _)| at + 1)
        .find(|&after| prefix_len(&text[after..], |c| c == '#') >= hashes)
        .map(|after| after + hashes)
}
