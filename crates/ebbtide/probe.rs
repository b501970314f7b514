//! Compiles if `core::alloc::Allocator` exists without a feature gate, which `build.rs` asks.
#![no_std]
pub fn probe<A: core::alloc::Allocator>(_: A) {}
