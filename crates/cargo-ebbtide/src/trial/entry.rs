//! What is written over the beginning of a function, and where its first instructions go.
//!
//! The adviser makes it from the program's file. Addresses in it are relative to the function,
//! because only the loader knows where the function will be.

use std::{fmt::Write as _, path::PathBuf};

/// The variable of the environment with the entries, each on a line.
pub const ENTRIES: &str = "EBBTIDE_TRIAL_ENTRIES";

/// The most functions that get scopes in one run.
pub const MOST: usize = 64;

/// The most bytes of arguments on the stack.
pub const MOST_STACK: usize = 1024;

/// Offsets in [`Entry::unwinding`] count in units of so many bytes.
pub const FACTOR: i64 = -8;

/// How the beginning of one function is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file with the function, without links.
    pub module: PathBuf,
    /// The address of the function in that file.
    pub address: u64,
    /// The instructions that are replaced: at least five bytes.
    pub first: Vec<u8>,
    /// The same instructions for another address. What follows is a jump to the rest.
    pub moved: Vec<u8>,
    /// The words of `moved` that depend on where it is.
    pub fixes: Vec<Fix>,
    /// The bytes of arguments that the function reads from the stack.
    pub stack_bytes: usize,
    /// Where the caller's registers are at each of the moved instructions, as DWARF tells it.
    pub unwinding: Vec<u8>,
}

/// A word of [`Entry::moved`] that refers to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Where the word is.
    pub at: usize,
    /// Whether it is the address itself, in 64 bits; otherwise the distance from the word's end, in
    /// 32 bits.
    pub is_absolute: bool,
    /// The address, relative to the function.
    pub target: i64,
}

impl Entry {
    /// The entry as a line.
    pub fn line(&self) -> String {
        let mut line = format!("{:x}\t{}\t", self.address, self.stack_bytes);
        for bytes in [&self.first, &self.moved, &self.unwinding] {
            bytes.iter().for_each(|byte| line += &format!("{byte:02x}"));
            line.push('\t');
        }
        for fix in &self.fixes {
            let kind = if fix.is_absolute { 'a' } else { 'r' };
            let _ = write!(line, "{kind}{}:{},", fix.at, fix.target);
        }
        line + "\t" + &self.module.to_string_lossy()
    }

    /// The entry of a line; `None` if it is none.
    pub fn from_line(line: &str) -> Option<Entry> {
        let mut fields = line.splitn(7, '\t');
        let mut next = || fields.next();
        let address = u64::from_str_radix(next()?, 16).ok()?;
        let stack_bytes = next()?.parse().ok()?;
        let first = bytes(next()?)?;
        let moved = bytes(next()?)?;
        let unwinding = bytes(next()?)?;
        let fixes = next()?.split_terminator(',').map(Fix::from_text).collect::<Option<_>>()?;
        let module = PathBuf::from(next()?);
        Some(Entry { module, address, first, moved, fixes, stack_bytes, unwinding })
    }
}

impl Fix {
    fn from_text(text: &str) -> Option<Fix> {
        let (at, target) = text.get(1..)?.split_once(':')?;
        let is_absolute = text.starts_with('a');
        Some(Fix { at: at.parse().ok()?, is_absolute, target: target.parse().ok()? })
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let pairs = (0..text.len()).step_by(2).map(|at| text.get(at..at + 2));
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Entry, Fix};

    #[test]
    fn an_entry_survives_its_line() {
        let fixes = [(4, true, -7), (0, false, 1 << 40)];
        let entry = Entry {
            module: "/a folder/a\tfile".into(),
            address: 0x1234_5678_9abc,
            first: vec![0x55, 0, 0xff],
            moved: vec![1, 2, 3, 4],
            fixes: fixes.map(|(at, is_absolute, target)| Fix { at, is_absolute, target }).into(),
            stack_bytes: 48,
            unwinding: vec![0x0e, 16],
        };
        let other = Entry { fixes: Vec::new(), unwinding: Vec::new(), ..entry.clone() };
        for entry in [entry, other] {
            assert_eq!(Entry::from_line(&entry.line()), Some(entry));
        }
        for broken in ["", "12\t0\t5\t00\t\t\t/a", "12\t0\t55\t00\t\tx\t/a", "12\t0\t55\t00\t\t"] {
            assert_eq!(Entry::from_line(broken), None, "{broken}");
        }
    }
}
