//! Computes digits of pi with num-bigint, by Gibbons' spigot.

use num_bigint::BigInt;

pub(super) fn digits(size: usize) -> impl Fn() -> u64 {
    move || once(size)
}

/// The last digits, up to 18.
#[inline(never)]
fn once(size: usize) -> u64 {
    let big = |number: i32| BigInt::from(number);
    let (mut q, mut r, mut t, mut k, mut n, mut l) =
        (big(1), big(0), big(1), big(1), big(3), big(3));
    let (mut found, mut last) = (0, 0);
    while found < size {
        if &q * 4 + &r - &t < &n * &t {
            let digit = u64::try_from(&n).expect("it is a digit");
            last = (last * 10 + digit) % 1_000_000_000_000_000_000;
            found += 1;
            let next = (&r - &n * &t) * 10;
            n = (&q * 3 + &r) * 10 / &t - &n * 10;
            q *= 10;
            r = next;
        } else {
            let next = (&q * 2 + &r) * &l;
            let quotient = (&q * (&k * 7) + 2 + &r * &l) / (&t * &l);
            q *= &k;
            t *= &l;
            l += 2;
            k += 1;
            n = quotient;
            r = next;
        }
    }
    last
}
