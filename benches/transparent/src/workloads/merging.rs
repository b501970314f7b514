//! Merges the changes of two authors of a document with automerge.

use super::text::Numbers;
use automerge::{
    ActorId, AutoCommit, AutomergeError, ObjType, ROOT, ReadDoc, transaction::Transactable,
};

/// Where an author writes, and what.
type Edit = (usize, &'static str);

pub(super) fn documents(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(24);
    let mut edits =
        || -> Vec<Edit> { (0..size).map(|_| (numbers.below(100), numbers.word())).collect() };
    let authors = [edits(), edits()];
    move || once(&authors)
}

/// The length of the merged text, and of the list.
#[inline(never)]
fn once(authors: &[Vec<Edit>; 2]) -> u64 {
    merge(authors).expect("all places exist")
}

fn merge(authors: &[Vec<Edit>; 2]) -> Result<u64, AutomergeError> {
    let mut document = AutoCommit::new().with_actor(ActorId::from(&[0][..]));
    let text = document.put_object(ROOT, "text", ObjType::Text)?;
    let list = document.put_object(ROOT, "list", ObjType::List)?;
    document.splice_text(&text, 0, 0, &"low water, high water; ".repeat(5))?;
    let mut copies = Vec::new();
    for (author, edits) in (1..).zip(authors) {
        let mut copy = document.fork().with_actor(ActorId::from(&[author][..]));
        for (index, &(place, word)) in edits.iter().enumerate() {
            copy.splice_text(&text, place, isize::from(index % 3 == 0), word)?;
            let ship = copy.insert_object(&list, index / 2, ObjType::Map)?;
            copy.put(&ship, "name", word)?;
            copy.put(&ship, "berth", place as u64)?;
        }
        copies.push(copy);
    }
    for copy in &mut copies {
        document.merge(copy)?;
    }
    let saved = document.save();
    let loaded = AutoCommit::load(&saved)?;
    Ok((loaded.text(&text)?.len() as u64) << 32 | loaded.length(&list) as u64)
}
