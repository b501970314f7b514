//! The input: the files that the stages work on, and notes on what was left out.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::stages::parse;
use crate::units;

/// A file in memory.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) text: String,
    is_json: bool,
}

/// Everything that the stages work on, read before the measurement.
#[derive(Debug)]
pub(crate) struct Input {
    /// A description of the source.
    pub(crate) source: String,
    pub(crate) files: Vec<File>,
    /// For each file that has words, their lengths in bytes.
    pub(crate) series: Vec<Vec<f64>>,
    /// What was left out, and why.
    pub(crate) notes: Vec<String>,
}

impl Input {
    pub(crate) fn bytes(&self) -> usize {
        self.files.iter().map(|file| file.text.len()).sum()
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_json)
    }

    /// A description of the size.
    pub(crate) fn size(&self) -> String {
        let size = units::bytes(self.bytes() as f64);
        format!("{}, {size}, {} of them JSON", files(self.files.len()), self.documents().count())
    }
}

/// The words of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c != '_' && !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Why the input is unusable.
#[derive(Debug)]
pub(crate) enum InputError {
    NotFound { path: PathBuf, error: io::Error },
    NothingUsable { source: String, notes: Vec<String> },
    NoCheckout(String),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::NotFound { path, error } => {
                write!(f, "cannot read {}: {error}", path.display())
            }
            InputError::NothingUsable { source, notes } => {
                write!(f, "no usable input in {source}: no file with UTF-8 text")?;
                notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
            }
            InputError::NoCheckout(reason) => {
                write!(f, "{reason}\n  run the tour in a Cargo checkout, or pass files or folders")
            }
        }
    }
}

/// Reads files one by one, up to a number of bytes.
pub(crate) struct Reader {
    files: Vec<File>,
    bytes_left: usize,
    /// The names of the files that a note mentions, by its text.
    noted: BTreeMap<&'static str, Vec<String>>,
}

impl Reader {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { files: Vec::new(), bytes_left: max_bytes, noted: BTreeMap::new() }
    }

    fn note(&mut self, what: &'static str, name: String) {
        self.noted.entry(what).or_default().push(name);
    }

    /// Adds a text.
    pub(crate) fn add(&mut self, name: String, text: String) {
        if text.len() > self.bytes_left {
            return self.note("left out to stay within --max-mib", name);
        }
        self.bytes_left -= text.len();
        let mut is_json = Path::new(&name).extension().is_some_and(|extension| extension == "json");
        if is_json {
            if let Err(reason) = parse::check(&text) {
                self.note("not JSON, read as plain text", format!("{name} ({reason})"));
                is_json = false;
            }
        }
        self.files.push(File { text, is_json });
    }

    /// Reads the file at `path`; a file that cannot be read becomes a note.
    pub(crate) fn read(&mut self, name: String, path: &Path) {
        // One byte more than allowed is enough to detect a file that is too long.
        let limit = u64::try_from(self.bytes_left).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        match fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
            Err(error) => self.note("could not be read", format!("{name} ({error})")),
            // A file that was cut off may end within a character.
            Ok(_) if bytes.len() > self.bytes_left => {
                self.note("left out to stay within --max-mib", name);
            }
            Ok(_) => match String::from_utf8(bytes) {
                Ok(text) => self.add(name, text),
                Err(_) => self.note("not UTF-8, left out", name),
            },
        }
    }

    /// Reads the files under `folder` in the order of their names, as `name/…`. Skips hidden
    /// entries, links, and folders marked as caches, such as Cargo's `target`. `wanted` filters the
    /// rest.
    pub(crate) fn read_folder(&mut self, name: &str, folder: &Path, wanted: fn(&Path) -> bool) {
        if folder.join("CACHEDIR.TAG").exists() {
            return;
        }
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.note("could not be read", format!("{name} ({error})")),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let entry_name = entry.file_name();
            let entry_name = entry_name.to_string_lossy();
            if entry_name.starts_with('.') {
                continue;
            }
            let (name, path) = (format!("{name}/{entry_name}"), entry.path());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.read_folder(&name, &path, wanted),
                Ok(kind) if kind.is_file() && wanted(&path) => self.read(name, &path),
                Ok(_) => {}
                Err(error) => self.note("could not be read", format!("{name} ({error})")),
            }
        }
    }

    /// Everything read so far, or an error if it is unusable.
    pub(crate) fn finish(self, source: String) -> Result<Input, InputError> {
        let notes = self.noted.into_iter().map(|(what, names)| note(what, &names)).collect();
        let lengths = |file: &File| words(&file.text).map(|word| word.len() as f64).collect();
        let series = self.files.iter().map(lengths);
        let series: Vec<_> = series.filter(|series: &Vec<f64>| !series.is_empty()).collect();
        if series.is_empty() {
            return Err(InputError::NothingUsable { source, notes });
        }
        Ok(Input { source, files: self.files, series, notes })
    }
}

/// Counts `names`, and shows them if they are few.
fn note(what: &str, names: &[String]) -> String {
    let shown = if names.len() <= 3 { format!(": {}", names.join(", ")) } else { String::new() };
    format!("{} {what}{shown}", files(names.len()))
}

/// `1 file`, `1,234 files`.
fn files(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} file{plural}", units::count(count as f64))
}

/// Reads the files and folders that the user named, up to `max_bytes`.
pub(crate) fn from_paths(paths: &[PathBuf], max_bytes: usize) -> Result<Input, InputError> {
    let mut reader = Reader::new(max_bytes);
    for path in paths {
        let name = path.display().to_string();
        match fs::metadata(path) {
            Err(error) => return Err(InputError::NotFound { path: path.clone(), error }),
            Ok(about) if about.is_dir() => {
                reader.read_folder(name.trim_end_matches('/'), path, |_| true)
            }
            Ok(_) => reader.read(name, path),
        }
    }
    let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    reader.finish(names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(files: &[(&str, &str)]) -> Reader {
        let mut reader = Reader::new(100);
        files.iter().for_each(|&(name, text)| reader.add(name.to_owned(), text.to_owned()));
        reader
    }

    #[test]
    fn the_extension_decides_how_a_file_is_read() -> Result<(), InputError> {
        let input = reader(&[("a/b.rs", "fn"), ("c.json", "[1]"), ("README", "read")])
            .finish("a test".to_owned())?;
        let is_json: Vec<_> = input.files.iter().map(|file| file.is_json).collect();
        assert_eq!(is_json, [false, true, false]);
        assert!(input.notes.is_empty());
        Ok(())
    }

    #[test]
    fn invalid_json_is_read_as_text_with_a_note() -> Result<(), InputError> {
        let input = reader(&[("c.json", "[1] // one")]).finish("a test".to_owned())?;
        assert!(!input.files[0].is_json);
        let reason = "trailing characters at line 1 column 5";
        let note = format!("1 file not JSON, read as plain text: c.json ({reason})");
        assert_eq!(input.notes, [note]);
        Ok(())
    }

    #[test]
    fn files_beyond_the_limit_are_left_out_with_a_note() -> Result<(), InputError> {
        let long = "x".repeat(99);
        let input = reader(&[("a", &long), ("b", "xy"), ("c", "x")]).finish("a test".to_owned())?;
        assert_eq!(input.bytes(), 100);
        assert_eq!(input.notes, ["1 file left out to stay within --max-mib: b"]);
        Ok(())
    }

    #[test]
    fn input_without_words_is_an_error() {
        let error =
            reader(&[("empty", ""), ("blank.txt", " \n")]).finish("a test".to_owned()).err();
        assert_eq!(
            error.map(|error| error.to_string()).as_deref(),
            Some("no usable input in a test: no file with UTF-8 text")
        );
    }

    #[test]
    fn a_missing_path_is_an_error_that_names_it() {
        let error =
            from_paths(&[PathBuf::from("no/such/file")], 1).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.starts_with("cannot read no/such/file: ")));
    }

    #[test]
    fn a_note_names_a_few_files_and_counts_many() {
        let names: Vec<_> = (1..=4).map(|i| i.to_string()).collect();
        assert_eq!(note("odd", &names[..3]), "3 files odd: 1, 2, 3");
        assert_eq!(note("odd", &names), "4 files odd");
    }
}
