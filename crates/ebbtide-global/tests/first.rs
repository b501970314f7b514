//! Scopes serve, blocks escape.
use ebbtide_global::{Scoped, arena, map, outside, report};
use std::alloc::System;
#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

#[test]
fn works() {
    for round in 0..1000usize {
        let v = arena(|| {
            let mut v = Vec::new();
            for i in 0..round {
                v.push(format!("{i} {round}"));
            }
            let o = outside(|| v.clone());
            assert_eq!(o, v);
            let big = vec![1u8; round * 1000];
            assert_eq!(big.iter().map(|x| *x as usize).sum::<usize>(), round * 1000);
            let z = vec![0u8; round * 1000];
            assert!(z.iter().all(|x| *x == 0));
            v.truncate(round / 2);
            v
        });
        assert_eq!(v.len(), round / 2);
        for (i, s) in v.iter().enumerate() {
            assert_eq!(*s, format!("{i} {round}"));
        }
        std::thread::spawn(move || drop(v)).join().unwrap();
    }
    let r = map(0..100usize, |i| (0..i).map(|x| x.to_string()).collect::<Vec<_>>());
    assert_eq!(r[50][20], "20");
    drop(r);
    println!("{}", report());
}
