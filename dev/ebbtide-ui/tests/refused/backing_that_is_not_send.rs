//! A scope can move to another thread, where its cold path calls the backing.

use ebbtide::{AllocError, Backing};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::rc::Rc;

struct Counted(Rc<()>);

unsafe impl Backing for Counted { //~ error[E0277]
    fn allocate(&self, _: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let _count = Rc::clone(&self.0);
        Err(AllocError)
    }

    unsafe fn release(&self, _: NonNull<u8>, _: Layout) {}
}

fn main() {
    ebbtide::Arena::new_in(Counted(Rc::new(())));
}
