//! Validates a WebAssembly module, translates it and runs it with wasmi.

use super::text::Numbers;
use std::fmt::Write;
use wasmi::{Engine, Linker, Module, Store};

pub(super) fn modules(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(27);
    let mut text = String::from("(module (memory 1) (table 8 funcref)\n");
    for function in 0..size {
        let (a, b) = (numbers.below(1_000), 1 + numbers.below(9));
        write!(
            text,
            "(func $f{function} (param $n i32) (result i32) (local $sum i32)\n\
             (loop $again (i32.store (i32.and (local.get $n) (i32.const 1020)) (local.get $sum))\n\
             (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const {b}))\n\
             (i32.xor (local.get $n) (i32.const {a}))))\n\
             (if (i32.gt_s (local.get $sum) (i32.const 100000))\n\
             (then (local.set $sum (i32.rem_s (local.get $sum) (i32.const 977)))))\n\
             (local.set $n (i32.sub (local.get $n) (i32.const 1)))\n\
             (br_if $again (i32.gt_s (local.get $n) (i32.const 0))))\n"
        )
        .expect("a string takes all");
        text += "(local.get $sum))\n";
    }
    text += "(func (export \"all\") (param $n i32) (result i32) (i32.const 0)\n";
    for function in 0..size {
        writeln!(text, "(i32.xor (call $f{function} (local.get $n)))").expect("a string takes all");
    }
    text += "))";
    let wasm = wat::parse_str(&text).expect("it is a module");
    move || once(&wasm)
}

/// What the functions return, combined.
#[inline(never)]
fn once(wasm: &[u8]) -> u64 {
    let result = run(wasm).expect("it is a module without traps");
    u64::from(result.cast_unsigned())
}

fn run(wasm: &[u8]) -> Result<i32, wasmi::Error> {
    let engine = Engine::default();
    let module = Module::new(&engine, wasm)?;
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate_and_start(&mut store, &module)?;
    instance.get_typed_func::<i32, i32>(&store, "all")?.call(&mut store, 20)
}
