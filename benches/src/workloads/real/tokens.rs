//! Cuts Rust into tokens. Total: every text has some.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Name,
    Number,
    /// A string or a character, quotes included.
    Literal,
    Lifetime,
    Open,
    Close,
    Operator,
}

#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
}

#[derive(Clone)]
pub struct Tokens<'t> {
    rest: &'t str,
}

/// The tokens of `text`, without space and comments.
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

/// The longer ones first.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "..=", "...", "->", "=>", "::", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "^=", "&=", "|=", "<<", ">>", "..",
];

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        self.skip_space();
        let rest = self.rest.as_bytes();
        let first = *rest.first()?;
        let (kind, len) = match first {
            b'(' | b'[' | b'{' => (Kind::Open, 1),
            b')' | b']' | b'}' => (Kind::Close, 1),
            b'0'..=b'9' => (Kind::Number, number(rest)),
            b'"' => (Kind::Literal, quoted(rest, 1)),
            b'\'' => quote(self.rest),
            b'b' if rest.get(1) == Some(&b'"') => (Kind::Literal, quoted(rest, 2)),
            b'r' if raw_hashes(rest).is_some() => (Kind::Literal, raw(rest)),
            _ if is_name(first) => (Kind::Name, name(rest)),
            _ => (Kind::Operator, operator(self.rest)),
        };
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        Some(Token { kind, text })
    }
}

impl Tokens<'_> {
    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let end = if self.rest.starts_with("//") {
                self.rest.find('\n')
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2)
            } else {
                return;
            };
            self.rest = end.map_or("", |end| &self.rest[end..]);
        }
    }
}

/// Bytes beyond ASCII count as letters.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn name(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| !is_name(byte)).unwrap_or(rest.len())
}

/// A point is part of a number if a digit follows.
fn number(rest: &[u8]) -> usize {
    let whole = name(rest);
    match rest.get(whole..whole + 2) {
        Some([b'.', b'0'..=b'9']) => whole + 1 + name(&rest[whole + 1..]),
        _ => whole,
    }
}

fn quoted(rest: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A character or a lifetime.
fn quote(rest: &str) -> (Kind, usize) {
    let mut after = rest[1..].chars();
    match (after.next(), after.next()) {
        (Some('\\'), Some(_)) => {
            let end = rest[3..].find('\'').map_or(rest.len(), |at| 3 + at + 1);
            (Kind::Literal, end)
        }
        (Some(c), Some('\'')) => (Kind::Literal, 2 + c.len_utf8()),
        _ => (Kind::Lifetime, 1 + name(&rest.as_bytes()[1..])),
    }
}

fn raw_hashes(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
    (rest.get(1 + hashes) == Some(&b'"')).then_some(hashes)
}

fn raw(rest: &[u8]) -> usize {
    let hashes = raw_hashes(rest).unwrap_or(0);
    let closes = |at: usize| {
        rest[at] == b'"'
            && rest[at + 1..].iter().take_while(|&&byte| byte == b'#').count() >= hashes
    };
    (hashes + 2..rest.len()).find(|&at| closes(at)).map_or(rest.len(), |at| at + 1 + hashes)
}

fn operator(rest: &str) -> usize {
    let longer = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
    longer.map_or_else(|| rest.chars().next().map_or(0, char::len_utf8), |operator| operator.len())
}
