//! Claims: readers of a registry see complete values; and if two threads append equal values at the
//! same time, one is appended.
//!
//! Models: `ci/loom.sh` runs them. The registry is the crate's own, with the atomics of loom. A
//! value is a cell of loom, which the appending thread writes to, so loom reports a reader that is
//! not ordered after it. Each model names the mutations for which it was seen to fail.

use crate::{loom_plain::Plain, shared::registry::Registry};
use loom::thread;

/// A value, which the thread that makes it writes once more.
fn value(value: u32) -> Plain<u32> {
    let plain = Plain::new(0);
    plain.set(value);
    plain
}

/// A registry that is never freed: models are short.
fn registry() -> &'static Registry<Plain<u32>> {
    Box::leak(Box::new(Registry::new()))
}

/// Fails where `append` links without `Release`, and where `follow` loads without `Acquire`.
#[test]
fn readers_and_other_writers_see_complete_values() {
    loom::model(|| {
        let registry = registry();
        let writers = [1, 2].map(|value| {
            thread::spawn(move || {
                assert_eq!(registry.append(self::value(value)).get(), value);
            })
        });
        assert!(registry.iter().map(Plain::get).sum::<u32>() <= 3);
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(registry.iter().map(Plain::get).sum::<u32>(), 3, "neither is lost");
    });
}

/// Fails where the list is searched first and a missing value is appended in a second step, and
/// where a link is set by a store instead of an exchange.
#[test]
fn two_threads_that_append_the_same_at_once_append_one() {
    loom::model(|| {
        let registry = registry();
        registry.append(value(1));
        let find = move || registry.find_or_append(|value| value.get() == 7, value(7));
        let other = thread::spawn(move || std::ptr::from_ref(find()).addr());
        let here = std::ptr::from_ref(find()).addr();
        assert_eq!(here, other.join().unwrap());
        assert_eq!(registry.iter().map(Plain::get).collect::<Vec<_>>(), [1, 7]);
    });
}
