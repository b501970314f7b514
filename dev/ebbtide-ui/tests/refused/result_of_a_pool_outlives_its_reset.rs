//! What a root holds ends with the pool's reset, and with the pool.

use ebbtide::Pool;

fn main() {
    let mut pool = Pool::new();
    let kept = pool.root().alloc(1);
    pool.reset(); //~ error[E0502]
    *kept += 1;
    let kept = pool.root().alloc(2);
    drop(pool); //~ error[E0505]
    *kept += 1;
}
