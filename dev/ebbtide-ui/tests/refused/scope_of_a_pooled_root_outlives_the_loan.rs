//! The allocations outlive the loan, the scope and what grows in it do not.

use ebbtide::Pool;

fn main() {
    let pool = Pool::new();
    let scope = pool.root().scope(); //~ error[E0716]
    scope.alloc(1);
    let mut words = {
        let root = pool.root();
        root.scope().vec() //~ error[E0597]
    };
    words.push(1);
}
