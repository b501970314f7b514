//! A JSON parser for every kind of memory: a [`Build`] decides where values are stored, and a
//! [`Dom`] gives access to the finished tree.

use std::fmt::{self, Write};

/// Deeper documents are rejected, so that neither parsing nor dropping one can overflow the stack.
pub(crate) const MAX_DEPTH: usize = 128;

/// Builds values from what the parser finds.
pub(crate) trait Build {
    type Value;
    type Items;
    type Members;

    fn scalar(&mut self, scalar: Scalar<'_>) -> Self::Value;

    fn items(&mut self) -> Self::Items;
    fn push_item(&mut self, items: &mut Self::Items, value: Self::Value);
    fn list(&mut self, items: Self::Items) -> Self::Value;

    fn members(&mut self) -> Self::Members;
    fn push_member(&mut self, members: &mut Self::Members, key: Text<'_>, value: Self::Value);
    fn object(&mut self, members: Self::Members) -> Self::Value;
}

/// A value without children.
#[derive(Clone, Copy)]
pub(crate) enum Scalar<'t> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Text<'t>),
}

/// The contents of a string literal, escapes included.
#[derive(Clone, Copy)]
pub(crate) enum Text<'t> {
    Plain(&'t str),
    Escaped(Escaped<'t>),
}

/// A finished tree.
pub(crate) trait Dom: Sized {
    type Member;
    type Items<'v>: Iterator<Item = &'v Self>
    where
        Self: 'v;
    type Members<'v>: Iterator<Item = &'v Self::Member>
    where
        Self: 'v;

    fn view(&self) -> View<'_, Self>;

    /// The key and the value of a member.
    fn parts(member: &Self::Member) -> (&str, &Self);

    /// The member called `key`, if this is an object that has one.
    fn get(&self, key: &str) -> Option<&Self> {
        match self.view() {
            View::Object(members) => {
                members.map(Self::parts).find(|member| member.0 == key).map(|member| member.1)
            }
            _ => None,
        }
    }

    /// The items, if this is a list.
    fn items(&self) -> Option<Self::Items<'_>> {
        match self.view() {
            View::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if this is a string.
    fn text(&self) -> Option<&str> {
        match self.view() {
            View::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The kind and contents of a [`Dom`] node.
pub(crate) enum View<'v, D: Dom + 'v> {
    Null,
    Bool(bool),
    Number(f64),
    Text(&'v str),
    List(D::Items<'v>),
    Object(D::Members<'v>),
}

/// Why a text is not valid JSON, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) reason: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.reason)
    }
}

/// Parses `document`, which holds one value, into the values of `build`.
pub(crate) fn parse<B: Build>(document: &str, build: &mut B) -> Result<B::Value, SyntaxError> {
    let mut parser = Parser { document, at: 0, build };
    parser
        .value(0)
        .and_then(|value| {
            parser.skip_space();
            if parser.at == document.len() { Ok(value) } else { Err("more text after the value") }
        })
        .map_err(|reason| {
            let before = &document.as_bytes()[..parser.at];
            let line_start =
                before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
            SyntaxError {
                line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
                column: before.len() - line_start + 1,
                reason,
            }
        })
}

/// Checks that `document` is valid JSON.
pub(crate) fn check(document: &str) -> Result<(), SyntaxError> {
    parse(document, &mut Nothing)
}

/// A builder that discards everything.
struct Nothing;

impl Build for Nothing {
    type Value = ();
    type Items = ();
    type Members = ();

    fn scalar(&mut self, _: Scalar<'_>) {}
    fn items(&mut self) {}
    fn push_item(&mut self, (): &mut (), (): ()) {}
    fn list(&mut self, (): ()) {}
    fn members(&mut self) {}
    fn push_member(&mut self, (): &mut (), _: Text<'_>, (): ()) {}
    fn object(&mut self, (): ()) {}
}

struct Parser<'t, 'b, B> {
    document: &'t str,
    at: usize,
    build: &'b mut B,
}

type Parsed<T> = Result<T, &'static str>;

impl<'t, B: Build> Parser<'t, '_, B> {
    fn peek(&self) -> Option<u8> {
        self.document.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips space, then `byte` if it comes next.
    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Parsed<B::Value> {
        if depth > MAX_DEPTH {
            return Err("nested too deeply");
        }
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => {
                let text = self.text()?;
                Ok(self.build.scalar(Scalar::Text(text)))
            }
            Some(b'-' | b'0'..=b'9') => {
                let number = self.number()?;
                Ok(self.build.scalar(Scalar::Number(number)))
            }
            Some(b'n') => self.word("null", Scalar::Null),
            Some(b't') => self.word("true", Scalar::Bool(true)),
            Some(b'f') => self.word("false", Scalar::Bool(false)),
            Some(_) => Err("expected a value"),
            None => Err("the text ends where a value should be"),
        }
    }

    fn word(&mut self, word: &str, scalar: Scalar<'_>) -> Parsed<B::Value> {
        if !self.document[self.at..].starts_with(word) {
            return Err("expected a value");
        }
        self.at += word.len();
        Ok(self.build.scalar(scalar))
    }

    fn list(&mut self, depth: usize) -> Parsed<B::Value> {
        self.at += 1;
        let mut items = self.build.items();
        if !self.eat(b']') {
            loop {
                let item = self.value(depth + 1)?;
                self.build.push_item(&mut items, item);
                if self.eat(b']') {
                    break;
                }
                if !self.eat(b',') {
                    return Err("expected `,` or `]`");
                }
            }
        }
        Ok(self.build.list(items))
    }

    fn object(&mut self, depth: usize) -> Parsed<B::Value> {
        self.at += 1;
        let mut members = self.build.members();
        if !self.eat(b'}') {
            loop {
                self.skip_space();
                if self.peek() != Some(b'"') {
                    return Err("expected a key in quotes");
                }
                let key = self.text()?;
                if !self.eat(b':') {
                    return Err("expected `:`");
                }
                let value = self.value(depth + 1)?;
                self.build.push_member(&mut members, key, value);
                if self.eat(b'}') {
                    break;
                }
                if !self.eat(b',') {
                    return Err("expected `,` or `}`");
                }
            }
        }
        Ok(self.build.object(members))
    }

    fn text(&mut self) -> Parsed<Text<'t>> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0..=0x1F) => return Err("a control character in a string"),
                Some(_) => self.at += 1,
                None => return Err("the text ends inside a string"),
            }
        }
        let inside = &self.document[start..self.at];
        self.at += 1;
        Ok(if escaped { Text::Escaped(Escaped(inside)) } else { Text::Plain(inside) })
    }

    fn escape(&mut self) -> Parsed<()> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let digits = self.document.as_bytes().get(self.at + 1..self.at + 5);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Err("`\\u` needs four hexadecimal digits");
                }
                self.at += 5;
            }
            _ => return Err("no such escape"),
        }
        Ok(())
    }

    fn number(&mut self) -> Parsed<f64> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        self.document[start..self.at].parse().map_err(|_| "not a number")
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err("expected a digit") } else { Ok(()) }
    }
}

/// The contents of a valid string literal with escapes. Displays as the unescaped text; an unpaired
/// surrogate displays as U+FFFD.
#[derive(Clone, Copy)]
pub(crate) struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((plain, escape)) = rest.split_once('\\') {
            f.write_str(plain)?;
            let mut chars = escape.chars();
            let decoded = match chars.next() {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => {
                    let (decoded, after) = code_point(escape);
                    f.write_char(decoded)?;
                    rest = after;
                    continue;
                }
                Some(itself) => itself,
                None => break,
            };
            f.write_char(decoded)?;
            rest = chars.as_str();
        }
        f.write_str(rest)
    }
}

/// Decodes `uXXXX`, or `uXXXX\uXXXX` where the first is a high surrogate; also returns what
/// follows.
fn code_point(escape: &str) -> (char, &str) {
    let unit = |text: &str| text.get(1..5).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let Some(first) = unit(escape) else {
        return (char::REPLACEMENT_CHARACTER, "");
    };
    let after_first = &escape[5..];
    if let Some(second) = after_first.strip_prefix('\\').filter(|next| next.starts_with('u')) {
        if let Some(low) = unit(second) {
            if let Some(Ok(decoded)) = char::decode_utf16([first, low]).next() {
                if u32::from(decoded) > 0xFFFF {
                    return (decoded, &second[5..]);
                }
            }
        }
    }
    (char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER), after_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::heap::json::{Builder, Value};

    fn reason(document: &str) -> Option<&'static str> {
        check(document).err().map(|error| error.reason)
    }

    #[test]
    fn every_kind_of_value_is_parsed() {
        let document =
            r#" {"a": [1, -2.5e3, true, false, null], "b": {"c": "d"}, "e": [], "f": {}} "#;
        let member = |key: &str, value| (key.to_owned(), value);
        assert_eq!(
            parse(document, &mut Builder),
            Ok(Value::Object(vec![
                member(
                    "a",
                    Value::List(vec![
                        Value::Number(1.0),
                        Value::Number(-2500.0),
                        Value::Bool(true),
                        Value::Bool(false),
                        Value::Null,
                    ])
                ),
                member("b", Value::Object(vec![member("c", Value::Text("d".to_owned()))])),
                member("e", Value::List(vec![])),
                member("f", Value::Object(vec![])),
            ]))
        );
    }

    #[test]
    fn escapes_are_decoded() {
        let text =
            |document| parse(document, &mut Builder).map(|value| value.text().map(str::to_owned));
        let expect = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(text(r#""a\n\t\"\\\/\b\f\rz""#), expect("a\n\t\"\\/\u{8}\u{c}\rz"));
        assert_eq!(text(r#""\u00e9 \ud83c\udf0a.""#), expect("é 🌊."));
        assert_eq!(text(r#""\ud83cx \udf0a""#), expect("\u{FFFD}x \u{FFFD}"));
        assert_eq!(text(r#""\ud83c\u0041""#), expect("\u{FFFD}A"));
        assert_eq!(text(r#""\u0041\u0042""#), expect("AB"));
    }

    #[test]
    fn invalid_json_is_rejected_with_a_reason() {
        assert_eq!(reason(""), Some("the text ends where a value should be"));
        assert_eq!(reason("[1 2]"), Some("expected `,` or `]`"));
        assert_eq!(reason("[1,]"), Some("expected a value"));
        assert_eq!(reason("{a: 1}"), Some("expected a key in quotes"));
        assert_eq!(reason(r#"{"a" 1}"#), Some("expected `:`"));
        assert_eq!(reason(r#"{"a": 1"#), Some("expected `,` or `}`"));
        assert_eq!(reason("01"), Some("more text after the value"));
        assert_eq!(reason("1."), Some("expected a digit"));
        assert_eq!(reason("-"), Some("expected a digit"));
        assert_eq!(reason("nul"), Some("expected a value"));
        assert_eq!(reason("\"a\nb\""), Some("a control character in a string"));
        assert_eq!(reason(r#""\x""#), Some("no such escape"));
        assert_eq!(reason(r#""\u12g4""#), Some("`\\u` needs four hexadecimal digits"));
        assert_eq!(reason(r#""\u12é""#), Some("`\\u` needs four hexadecimal digits"));
        assert_eq!(reason("\"open"), Some("the text ends inside a string"));
    }

    #[test]
    fn an_error_names_its_position() {
        assert_eq!(
            check("[\n  1,\n  oops]"),
            Err(SyntaxError { line: 3, column: 3, reason: "expected a value" })
        );
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(reason(&nested(MAX_DEPTH)), None);
        assert_eq!(reason(&nested(100_000)), Some("nested too deeply"));
    }
}
