//! Where chunks and runs come from, and the bound of what is held.

pub(crate) mod cache;
pub(crate) mod held;
pub(crate) mod helper;
pub(crate) mod os;
pub(crate) mod pool;
pub(crate) mod range;
pub(crate) mod run;
