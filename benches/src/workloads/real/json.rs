//! A JSON document that describes tokens, and a parser that builds it in the arena.

use super::{Handle, tokens};
use std::fmt::Write;

/// A JSON value in the arena.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Number(f64),
    String(&'a str),
    Array(&'a [Value<'a>]),
    Object(&'a [(&'a str, Value<'a>)]),
}

impl Value<'_> {
    /// The number of values, including this one.
    pub fn count(&self) -> usize {
        1 + match self {
            Value::Array(values) => values.iter().map(Value::count).sum(),
            Value::Object(entries) => entries.iter().map(|(_, value)| value.count()).sum(),
            _ => 0,
        }
    }

    /// A sum over the contents.
    pub fn weight(&self) -> usize {
        match self {
            Value::Null => 1,
            Value::Bool(value) => usize::from(*value),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Value::Number(number) => *number as usize,
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(Value::weight).sum(),
            Value::Object(entries) => {
                entries.iter().map(|(name, value)| name.len() + value.weight()).sum()
            }
        }
    }
}

/// A list of files, each a list of tokens, each an object. Also returns the number and the weight
/// of the values.
pub fn document(sources: &[String]) -> (String, usize, usize) {
    let mut text = String::from("[");
    let (mut values, mut weight) = (1, 0);
    for (number, source) in sources.iter().enumerate() {
        text.push_str(if number == 0 { "[" } else { ",\n[" });
        values += 1;
        for (at, token) in tokens(source).enumerate() {
            let quoted = quoted(token.text);
            let comma = if at == 0 { "" } else { "," };
            let (kind, long) = (token.kind, token.text.len() > 8);
            write!(
                text,
                "{comma}\n  {{\"kind\": \"{kind:?}\", \"text\": {quoted}, \"long\": {long}, \"at\": {at}, \
                 \"next\": null}}"
            )
            .expect("a string takes all");
            values += 6;
            let kind = format!("{kind:?}");
            weight += "kindtextlongatnext".len()
                + kind.len()
                + token.text.len()
                + usize::from(long)
                + at
                + 1;
        }
        text.push(']');
    }
    text.push(']');
    (text, values, weight)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c < ' ' => write!(quoted, "\\u{:04x}", u32::from(c)).expect("a string takes all"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Parses a document from [`document`].
pub fn parse<'a>(handle: &impl Handle<'a>, text: &str) -> Value<'a> {
    let mut parser = Parser {
        handle,
        text,
        at: 0,
        values: Vec::new(),
        entries: Vec::new(),
        unescaped: String::new(),
    };
    let value = parser.value();
    parser.skip_space();
    assert_eq!(parser.at, text.len(), "something follows the value");
    value
}

struct Parser<'h, 't, 'a, H> {
    handle: &'h H,
    text: &'t str,
    at: usize,
    /// Stacks of elements and entries whose parents are not complete.
    values: Vec<Value<'a>>,
    entries: Vec<(&'a str, Value<'a>)>,
    unescaped: String,
}

impl<'a, H: Handle<'a>> Parser<'_, '_, 'a, H> {
    fn skip_space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    /// The next byte that is not a space.
    fn peek(&mut self) -> u8 {
        self.skip_space();
        self.text.as_bytes()[self.at]
    }

    /// Skips `byte` if it comes next.
    fn eat(&mut self, byte: u8) -> bool {
        // Not `self.at += usize::from(…)`: rustc 1.95 miscompiles it here.
        if self.peek() != byte {
            return false;
        }
        self.at += 1;
        true
    }

    fn value(&mut self) -> Value<'a> {
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => Value::String(self.string()),
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Value<'a> {
        assert!(self.text[self.at..].starts_with(word), "no value begins like this");
        self.at += word.len();
        value
    }

    fn number(&mut self) -> Value<'a> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(|byte| b"+-.0123456789Ee".contains(byte)).count();
        self.at += len;
        Value::Number(rest[..len].parse().expect("a number"))
    }

    fn array(&mut self) -> Value<'a> {
        self.at += 1;
        let start = self.values.len();
        while !self.eat(b']') {
            let value = self.value();
            self.values.push(value);
            self.eat(b',');
        }
        let array = self.handle.alloc_slice_copy(&self.values[start..]);
        self.values.truncate(start);
        Value::Array(array)
    }

    fn object(&mut self) -> Value<'a> {
        self.at += 1;
        let start = self.entries.len();
        while !self.eat(b'}') {
            assert_eq!(self.peek(), b'"', "a name");
            let name = self.string();
            assert!(self.eat(b':'), "a colon");
            let value = self.value();
            self.entries.push((name, value));
            self.eat(b',');
        }
        let object = self.handle.alloc_slice_copy(&self.entries[start..]);
        self.entries.truncate(start);
        Value::Object(object)
    }

    fn string(&mut self) -> &'a str {
        let rest = &self.text[self.at + 1..];
        let plain = rest.bytes().take_while(|byte| !matches!(byte, b'"' | b'\\')).count();
        if rest.as_bytes()[plain] == b'"' {
            self.at += plain + 2;
            return self.handle.alloc_str(&rest[..plain]);
        }
        self.unescaped.clear();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 2;
                    break;
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => self.unescaped.push('\n'),
                    Some((at, 'u')) => {
                        let code =
                            u32::from_str_radix(&rest[at + 1..at + 5], 16).expect("a number");
                        self.unescaped.push(char::from_u32(code).expect("a control character"));
                        chars.nth(3);
                    }
                    Some((_, c)) => self.unescaped.push(c),
                    None => break,
                },
                c => self.unescaped.push(c),
            }
        }
        self.handle.alloc_str(&self.unescaped)
    }
}
