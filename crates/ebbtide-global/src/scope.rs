//! The states of an owner that describe its scopes. Only `owner` acts on several of them.

pub(crate) mod bump;
pub(crate) mod cached_chunk;
pub(crate) mod ids;
pub(crate) mod innermost;
pub(crate) mod ledger;
pub(crate) mod mode;
