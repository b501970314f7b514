//! A simplified syntax tree of Rust: brackets, lists and operators. Adjacent tokens such as `fn
//! f(x: u8)` form a run. Accepts any text: unmatched brackets are kept as they are.

use super::{
    Handle,
    lexer::{Kind, Token, Tokens},
    tokens,
};
use std::iter::Peekable;

/// A node. Everything is in the arena, including text.
#[derive(Clone, Copy)]
pub enum Node<'a> {
    Leaf(&'a str),
    /// Brackets and their contents.
    Group {
        open: &'a str,
        inside: &'a [Node<'a>],
        close: &'a str,
    },
    /// Adjacent nodes.
    Run(&'a [Node<'a>]),
    Unary {
        operator: &'a str,
        operand: &'a Node<'a>,
    },
    Binary {
        operator: &'a str,
        left: &'a Node<'a>,
        right: &'a Node<'a>,
    },
}

impl Node<'_> {
    /// The total length of its tokens.
    pub fn leaf_bytes(&self) -> usize {
        match self {
            Node::Leaf(text) => text.len(),
            Node::Group { open, inside, close } => {
                open.len() + close.len() + inside.iter().map(Node::leaf_bytes).sum::<usize>()
            }
            Node::Run(nodes) => nodes.iter().map(Node::leaf_bytes).sum(),
            Node::Unary { operator, operand } => operator.len() + operand.leaf_bytes(),
            Node::Binary { operator, left, right } => {
                operator.len() + left.leaf_bytes() + right.leaf_bytes()
            }
        }
    }
}

pub fn parse<'a>(handle: &impl Handle<'a>, text: &str) -> Node<'a> {
    let mut parser = Parser { handle, tokens: tokens(text).peekable(), pending: Vec::new() };
    let start = parser.pending.len();
    while parser.tokens.peek().is_some() {
        parser.list();
        // An unmatched closing bracket.
        if let Some(token) = parser.tokens.next() {
            let leaf = parser.leaf(token);
            parser.pending.push(leaf);
        }
    }
    Node::Run(parser.taken(start))
}

struct Parser<'h, 't, 'a, H> {
    handle: &'h H,
    tokens: Peekable<Tokens<'t>>,
    /// A stack of nodes whose parents are not built yet.
    pending: Vec<Node<'a>>,
}

impl<'a, H: Handle<'a>> Parser<'_, '_, 'a, H> {
    fn leaf(&self, token: Token<'_>) -> Node<'a> {
        Node::Leaf(self.handle.alloc_str(token.text))
    }

    /// Moves the pending nodes from `start` into a slice in the arena.
    fn taken(&mut self, start: usize) -> &'a [Node<'a>] {
        let nodes = self.handle.alloc_slice_copy(&self.pending[start..]);
        self.pending.truncate(start);
        nodes
    }

    /// Parses expressions up to a closing bracket or the end onto the stack.
    fn list(&mut self) {
        while self.tokens.peek().is_some_and(|token| token.kind != Kind::Close) {
            let node = self.expression(0);
            self.pending.push(node);
        }
    }

    /// Parses an expression of operators with a higher precedence than `least`.
    fn expression(&mut self, least: u8) -> Node<'a> {
        let mut left = self.operand();
        while let Some(&token) = self.tokens.peek() {
            let binds = strength(token);
            if binds <= least {
                break;
            }
            self.tokens.next();
            let operator = &*self.handle.alloc_str(token.text);
            let ends = self.tokens.peek().is_none_or(|token| token.kind == Kind::Close);
            left = if ends {
                Node::Unary { operator, operand: self.handle.alloc(left) }
            } else {
                let right = self.expression(binds);
                let left = self.handle.alloc(left);
                Node::Binary { operator, left, right: self.handle.alloc(right) }
            };
        }
        left
    }

    /// Parses a leaf, a group, a prefix operator with its operand, or a run of these.
    fn operand(&mut self) -> Node<'a> {
        let start = self.pending.len();
        while let Some(&token) = self.tokens.peek() {
            let node = match token.kind {
                Kind::Close => break,
                Kind::Punctuation if self.pending.len() > start => break,
                Kind::Open => self.group(),
                Kind::Punctuation => {
                    self.tokens.next();
                    let operator = &*self.handle.alloc_str(token.text);
                    let operand = self.expression(UNARY);
                    Node::Unary { operator, operand: self.handle.alloc(operand) }
                }
                _ => {
                    self.tokens.next();
                    self.leaf(token)
                }
            };
            self.pending.push(node);
            if token.text == "{" {
                break;
            }
        }
        match self.pending[start..] {
            [node] => {
                self.pending.truncate(start);
                node
            }
            _ => Node::Run(self.taken(start)),
        }
    }

    fn group(&mut self) -> Node<'a> {
        let open = self.tokens.next().map_or("", |token| self.handle.alloc_str(token.text));
        let start = self.pending.len();
        self.list();
        let inside = self.taken(start);
        let close = self.tokens.next().map_or("", |token| self.handle.alloc_str(token.text));
        Node::Group { open, inside, close }
    }
}

/// The precedence of prefix operators.
const UNARY: u8 = 12;

/// The precedence of a binary operator; 0 for other tokens.
fn strength(token: Token<'_>) -> u8 {
    if token.kind != Kind::Punctuation {
        return 0;
    }
    match token.text {
        ";" => 1,
        "," => 2,
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "&=" | "|=" | "<<=" | ">>=" | "=>" => 3,
        ".." | "..=" => 4,
        "||" => 5,
        "&&" => 6,
        "==" | "!=" | "<" | ">" | "<=" | ">=" => 7,
        "|" | "^" | "&" => 8,
        "<<" | ">>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        "." | "::" | "?" => 13,
        _ => 7,
    }
}
