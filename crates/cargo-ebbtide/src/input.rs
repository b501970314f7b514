//! What a program reads: the same in each run.

use crate::refusal::Refusal;
use std::{
    fs::File,
    io::{self, IsTerminal, PipeReader, Read, Write},
    os::fd::AsFd,
    path::PathBuf,
    process::Stdio,
    thread,
};
use tempfile::TempDir;

/// The standard input of this program, kept for the runs after the first.
pub(crate) struct Input {
    folder: TempDir,
    /// Whether there is one that can be kept; somebody who types does it once.
    is_kept: bool,
}

impl Input {
    /// The input, and what the first run gets. What comes through a pipe is kept while it is passed on,
    /// because it may have no end.
    pub(crate) fn keep() -> Result<(Input, Stdio), Refusal> {
        let folder = tempfile::tempdir().map_err(Refusal::folder)?;
        let input = Input { is_kept: !io::stdin().is_terminal(), folder };
        if !input.is_kept {
            return Ok((input, Stdio::inherit()));
        }
        let mut kept = File::create(input.path()).map_err(Refusal::folder)?;
        let source = io::stdin().as_fd().try_clone_to_owned().map_err(Refusal::folder)?;
        let mut source = File::from(source);
        if source.metadata().is_ok_and(|file| file.is_file()) {
            io::copy(&mut source, &mut kept).map_err(Refusal::folder)?;
            let first = input.again()?;
            return Ok((input, first));
        }
        let (first, mut passed): (PipeReader, _) = io::pipe().map_err(Refusal::folder)?;
        thread::spawn(move || {
            let mut part = vec![0; 1 << 16];
            loop {
                let bytes = match source.read(&mut part) {
                    Ok(bytes) if bytes > 0 => bytes,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    _ => break,
                };
                // The program has ended if it reads no more.
                let is_kept = kept.write_all(&part[..bytes]);
                if is_kept.and_then(|()| passed.write_all(&part[..bytes])).is_err() {
                    break;
                }
            }
        });
        Ok((input, first.into()))
    }

    /// What a later run gets.
    pub(crate) fn again(&self) -> Result<Stdio, Refusal> {
        if self.is_kept {
            Ok(File::open(self.path()).map_err(Refusal::folder)?.into())
        } else {
            Ok(Stdio::null())
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("input")
    }
}
