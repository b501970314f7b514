//! The derive macro of `ebbtide::deserialize::DeserializeIn`, whose documentation describes it. Use it
//! through ebbtide's feature `derive`.

mod attributes;
mod names;

mod generics;
mod shape;

mod code;

use proc_macro::TokenStream;

/// Implements `ebbtide::deserialize::DeserializeIn` for a struct or an enum.
#[proc_macro_derive(DeserializeIn, attributes(serde))]
pub fn derive_deserialize_in(input: TokenStream) -> TokenStream {
    let code = syn::parse(input).and_then(|input| code::implementation(&input));
    code.unwrap_or_else(|error| error.into_compile_error()).into()
}
