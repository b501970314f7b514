//! The parameters of the generated code, and types that mean the same in it.

use proc_macro2::{Group, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::{
    DeriveInput, Error, GenericParam, Generics, Ident, Lifetime, LifetimeParam, Result, parse_quote,
};

/// Replaces `Self`, which means the visitor in the generated code.
pub(crate) fn without_self(tokens: TokenStream, this: &TokenStream) -> TokenStream {
    let mut replaced = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(name) if name == "Self" => {
                // The second colon follows the first without a space only in a path.
                let is_path = tokens.peek().is_some_and(|next| {
                    matches!(next, TokenTree::Punct(colon)
                        if colon.as_char() == ':' && colon.spacing() == Spacing::Joint)
                });
                replaced.extend(if is_path { quote!(<#this>) } else { this.clone() });
            }
            TokenTree::Group(group) => {
                let inner = without_self(group.stream(), this);
                let mut inner = Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                replaced.append(inner);
            }
            other => replaced.append(other),
        }
    }
    replaced
}

/// The generics of the implementation, with the lifetimes of the input, the scope and its memory.
pub(crate) fn generics(
    input: &DeriveInput,
    this: &TokenStream,
) -> Result<(Generics, [Lifetime; 3])> {
    let mut generics = input.generics.clone();
    let own: Vec<Lifetime> = generics.lifetimes().map(|own| own.lifetime.clone()).collect();
    let fresh = |name: &str| Lifetime::new(name, Span::mixed_site());
    let (de, s, a) = (fresh("'__de"), fresh("'__s"), fresh("'__a"));
    let (s, a) = match &own[..] {
        [] => (s, a),
        [memory] => (s, memory.clone()),
        [borrow, memory] => (borrow.clone(), memory.clone()),
        more => {
            let message = "a type that derives `DeserializeIn` has at most two lifetimes: a borrow of \
                           the scope and the scope's memory, `'s, 'a`";
            return Err(Error::new(more[2].span(), message));
        }
    };
    for new in [&a, &s, &de].into_iter().filter(|new| !own.contains(new)) {
        generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(new.clone())));
    }
    let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
    let bounds = &mut generics.make_where_clause().predicates;
    for bound in bounds.iter_mut() {
        *bound = syn::parse2(without_self(bound.to_token_stream(), this))?;
    }
    for ty in types {
        bounds.push(parse_quote!(#ty: ::ebbtide::deserialize::DeserializeIn<#de, #s, #a>));
    }
    Ok((generics, [de, s, a]))
}
