//! Fields, and the structs and variants that are built from them.

use crate::attributes::Attributes;
use proc_macro2::{Span, TokenStream};
use quote::quote;

/// A field that is in the input, or has a default instead.
pub(crate) struct Field {
    pub(crate) attributes: Attributes,
    /// Its name or number.
    pub(crate) member: TokenStream,
    pub(crate) name: String,
    pub(crate) ty: TokenStream,
}

/// What is built from fields: a struct or a variant.
pub(crate) struct Shape<'f> {
    /// Its path.
    pub(crate) path: TokenStream,
    /// Its kind and name, for messages.
    pub(crate) expecting: String,
    pub(crate) fields: &'f [Field],
    pub(crate) is_named: bool,
    /// The default of the whole type, if it has one.
    pub(crate) default: Option<TokenStream>,
}

impl Field {
    /// Some tokens, so that errors about them point to the type of the field.
    pub(crate) fn at(&self, tokens: TokenStream) -> TokenStream {
        let tokens = tokens.into_iter().map(|mut token| {
            token.set_span(self.span());
            token
        });
        tokens.collect()
    }

    /// Where errors about the type of the field point to.
    pub(crate) fn span(&self) -> Span {
        let first = self.ty.clone().into_iter().next();
        first.map_or_else(Span::call_site, |first| first.span().resolved_at(Span::call_site()))
    }
}

impl Shape<'_> {
    /// The value of a field that the input leaves out, unless that is an error.
    pub(crate) fn default_of(&self, field: &Field, derived: &TokenStream) -> Option<TokenStream> {
        let member = &field.member;
        let of_all = || self.default.as_ref().map(|_| quote!(__default.#member));
        field.attributes.default.as_ref().map(|own| own.value(derived)).or_else(of_all)
    }

    /// Makes the default of the whole type, if it has one.
    pub(crate) fn default_first(&self) -> Option<TokenStream> {
        self.default.as_ref().map(|default| quote!(let __default: Self::Value = #default;))
    }

    /// The struct or variant, with a value for each field; the default where `value` has none.
    pub(crate) fn built(
        &self,
        derived: &TokenStream,
        mut value: impl FnMut(&Field) -> Option<TokenStream>,
    ) -> TokenStream {
        let fields = self.fields.iter().map(|field| {
            let member = &field.member;
            let value = value(field).or_else(|| self.default_of(field, derived));
            let value = value.unwrap_or_else(|| quote!(#derived::Default::default()));
            quote!(#member: #value)
        });
        let path = &self.path;
        quote!(#path { #(#fields),* })
    }
}
