use super::{handle, peer, scopes};
use crate::harness::observe;
use blink_alloc::Blink;

peer! {
    BlinkAlloc(Blink) = "blink-alloc", &'a Blink;
    new: Blink::new(), |bytes| Blink::with_chunk_size(bytes * 2);
    open: |this| { this.0.reset(); &this.0 };
}
handle!(&'a Blink: |b, value| b.put_no_drop(value), b.copy_str(value), b.copy_slice(value));
scopes!(BlinkAlloc: |blink, value| {
    observe(blink.put_no_drop(value));
    blink.reset()
});
