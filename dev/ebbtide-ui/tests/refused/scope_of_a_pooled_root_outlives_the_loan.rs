//! The allocations outlive the loan, the scope and what grows in it do not.

use ebbtide::Pool;

fn main() {
    let pool = Pool::new();
    let mut numbers = pool.root().vec(); //~ error[E0716]
    numbers.push(1);
    let mut words = {
        let root = pool.root();
        root.vec() //~ error[E0597]
    };
    words.push(1);
}
