//! Claims: each has a list of its own, whose chunks become spare when the claim ends. Both take a
//! time that does not depend on the number of chunks.

use super::{blocks::FIRST_CLAIM, control::CurrentChunk, header::Room, list::claim_chunk};
use crate::error::AllocError;

/// Begins a claim: creates a list for a child of the scope whose cursor is at `parent`. The chunks
/// behind the parent become spare, so that both can take them.
///
/// # Errors
///
/// If there is no spare chunk and the backing refuses one, or if the request comes from the backing
/// itself.
pub(crate) fn claim(parent: CurrentChunk<'_>) -> Result<CurrentChunk<'_>, AllocError> {
    let control = parent.control();
    if control.settings().is_busy() {
        return Err(AllocError);
    }
    control.mark_claim();
    control.make_all_spare(parent.chunk().header().next.take());
    let wanted = FIRST_CLAIM.min(control.settings().next_size.get());
    let chunk = claim_chunk(control, 0, wanted, &Room::NOTHING)?;
    control.open_claims.set(control.open_claims.get() + 1);
    chunk.next.set(None);
    chunk.list_start.set(Some(chunk));
    chunk.capacity_before.set(parent.capacity_before.get() + parent.capacity());
    control.note_entered(&chunk);
    control.check();
    // SAFETY: the chunk was just created for this arena, or was one of its spare ones.
    Ok(unsafe { control.attach(chunk) })
}

/// Ends the claim to whose list `chunk` belongs: all its chunks become spare.
///
/// # Safety
///
/// The list is a claim's, the claim ends now for the first time, and nothing allocated in it is
/// used again.
pub(crate) unsafe fn end_claim(chunk: CurrentChunk<'_>) {
    let control = chunk.control();
    debug_assert!(chunk.list_start() != control.head().chunk(), "the list is a claim's");
    debug_assert!(control.open_claims() > 0, "this one is open");
    control.open_claims.set(control.open_claims.get() - 1);
    control.note_in_use();
    control.make_all_spare(Some(chunk.list_start()));
    control.check();
}
