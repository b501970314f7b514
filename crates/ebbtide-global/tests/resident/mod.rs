//! The memory of arenas, as the system sees it.

use ebbtide_global::engine;
use std::{fs, ptr};

/// The resident bytes of the range that the arenas take their memory from.
pub(crate) fn resident_in_arenas() -> Option<usize> {
    let text = fs::read_to_string("/proc/self/smaps").ok()?;
    let (mut inside, mut sum) = (false, 0);
    for line in text.lines() {
        let head = line.split(' ').next()?;
        if let Some((low, high)) = head.split_once('-') {
            let (Ok(low), Ok(high)) =
                (usize::from_str_radix(low, 16), usize::from_str_radix(high, 16))
            else {
                continue;
            };
            inside = engine::is_ours(ptr::without_provenance::<u8>(low))
                && engine::is_ours(ptr::without_provenance::<u8>(high - 1));
        } else if inside && head == "Rss:" {
            sum += line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024;
        }
    }
    Some(sum)
}
