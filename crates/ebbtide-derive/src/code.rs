//! The generated code: a visitor for each type, and for each variant that has several fields.
//!
//! It calls what serde's own derive calls, in the same order, so that every format sees the same
//! requests and every input gives the same errors. Names are looked up by a seed of ebbtide, instead of
//! a visitor for each type.

use crate::{
    attributes::{Attributes, Owner, Via},
    generics::{generics, without_self},
    names::Rule,
    shape::{Field, Shape},
};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Data, DeriveInput, Error, Fields, Generics, Ident, Lifetime, Result, ext::IdentExt,
    spanned::Spanned,
};

/// A type, and what all of its code shares.
struct Container<'i> {
    name: &'i Ident,
    attributes: Attributes,
    /// Those of the type, `'de`, and the lifetimes of the scope.
    generics: Generics,
    /// The type, with its own parameters.
    this: TokenStream,
    /// Of the input, of the scope's borrow, and of its memory.
    lifetimes: [Lifetime; 3],
    derived: TokenStream,
}

/// The code for a whole type.
pub(crate) fn implementation(input: &DeriveInput) -> Result<TokenStream> {
    let owner = match &input.data {
        Data::Struct(_) => Owner::Struct,
        Data::Enum(_) => Owner::Enum,
        Data::Union(data) => {
            let message = "`DeserializeIn` cannot be derived for a union";
            return Err(Error::new(data.union_token.span, message));
        }
    };
    let (name, derived) = (&input.ident, quote!(::ebbtide::deserialize::derived));
    let (_, own, _) = input.generics.split_for_impl();
    let this = quote!(#name #own);
    let (generics, lifetimes) = generics(input, &this)?;
    let container = Container {
        name,
        attributes: Attributes::of(owner, &input.attrs)?,
        this,
        lifetimes,
        generics,
        derived,
    };
    let body = match (&container.attributes.via, &input.data) {
        (Some(via), _) => container.via(via),
        (None, Data::Struct(data)) => container.structure(&data.fields)?,
        (None, Data::Enum(data)) => container.enumeration(data)?,
        (None, Data::Union(_)) => TokenStream::new(),
    };
    let Container { this, derived, lifetimes: [de, s, a], .. } = &container;
    let (parameters, _, bounds) = container.generics.split_for_impl();
    let seed = container.seed_type(&quote!(Self));
    Ok(quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #parameters ::ebbtide::deserialize::DeserializeIn<#de, #s, #a> for #this #bounds {
            fn deserialize_in<__D: #derived::Deserializer<#de>>(
                __seed: #seed,
                __from: __D,
            ) -> #derived::core::result::Result<Self, __D::Error> {
                #body
            }
        }
    })
}

impl Container<'_> {
    /// The name that the format sees.
    fn name(&self) -> String {
        self.attributes.rename.clone().unwrap_or_else(|| self.name.unraw().to_string())
    }

    fn de(&self) -> &Lifetime {
        &self.lifetimes[0]
    }

    /// The type of the seed for a type.
    fn seed_type(&self, of: &TokenStream) -> TokenStream {
        let [de, s, a] = &self.lifetimes;
        quote!(::ebbtide::deserialize::SeedIn<#de, #s, #a, #of>)
    }

    fn via(&self, via: &Via) -> TokenStream {
        let (this, derived) = (&self.this, &self.derived);
        match via {
            Via::From(ty) => {
                let ty = without_self(ty.to_token_stream(), this);
                quote! {
                    let __value = #derived::DeserializeSeed::deserialize(__seed.of::<#ty>(), __from)?;
                    #derived::core::result::Result::Ok(#derived::From::from(__value))
                }
            }
            Via::TryFrom(ty) => {
                let ty = without_self(ty.to_token_stream(), this);
                quote! {
                    let __value = #derived::DeserializeSeed::deserialize(__seed.of::<#ty>(), __from)?;
                    #derived::converted(__value)
                }
            }
        }
    }

    /// The fields of a struct or a variant.
    fn fields(&self, fields: &Fields, rule: Option<Rule>) -> Result<Vec<Field>> {
        let mut found: Vec<Field> = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let attributes = Attributes::of(Owner::Field, &field.attrs)?;
            let (member, own) = match &field.ident {
                Some(name) => (name.to_token_stream(), name.unraw().to_string()),
                None => (syn::Index::from(index).to_token_stream(), index.to_string()),
            };
            let name = attributes
                .rename
                .clone()
                .unwrap_or_else(|| rule.map_or_else(|| own.clone(), |rule| rule.of_field(&own)));
            let ty = without_self(field.ty.to_token_stream(), &self.this);
            let defaulted = found.iter().any(|field| field.attributes.default.is_some());
            let is_given = attributes.default.is_some()
                || attributes.skip
                || self.attributes.default.is_some();
            if field.ident.is_none() && defaulted && !is_given {
                let message = "a field after one with `#[serde(default)]` needs a default too";
                return Err(Error::new(field.span(), message));
            }
            found.push(Field { attributes, member, name, ty });
        }
        if let (Fields::Unnamed(_), [only]) = (fields, &found[..]) {
            if only.attributes.skip {
                let message = "`DeserializeIn` does not support `#[serde(skip)]` on an only field";
                return Err(Error::new(fields.span(), message));
            }
        }
        Ok(found)
    }

    fn structure(&self, fields: &Fields) -> Result<TokenStream> {
        let (derived, this, name) = (&self.derived, &self.this, self.name());
        let own = self.name.unraw();
        let found = self.fields(fields, self.attributes.rename_all)?;
        let is_newtype = matches!(fields, Fields::Unnamed(_)) && found.len() == 1;
        let default = self.attributes.default.as_ref().map(|default| default.value(derived));
        let kind = match fields {
            Fields::Named(_) => "struct",
            Fields::Unnamed(_) => "tuple struct",
            Fields::Unit => "unit struct",
        };
        let expecting = self.attributes.expecting.clone();
        let expecting = expecting.unwrap_or_else(|| format!("{kind} {own}"));
        let path = self.name.to_token_stream();
        let is_named = matches!(fields, Fields::Named(_));
        let shape = Shape { path, expecting, fields: &found, is_named, default };
        if self.attributes.transparent {
            return self.transparent(&shape, fields.span());
        }
        if let Fields::Unit = fields {
            if shape.default.is_some() {
                let message = "`#[serde(default)]` has no meaning on a struct without fields";
                return Err(Error::new(self.name.span(), message));
            }
            let path = &shape.path;
            let visit_unit = quote! {
                fn visit_unit<__E: #derived::Error>(self) -> #derived::core::result::Result<#this, __E> {
                    #derived::core::result::Result::Ok(#path)
                }
            };
            let visitor = self.visitor(this, &shape.expecting, &visit_unit);
            return Ok(quote! {
                #visitor
                __from.deserialize_unit_struct(#name, __Visitor(__seed))
            });
        }
        let (constants, methods) = self.visits(&shape)?;
        let newtype = is_newtype.then(|| self.visit_newtype(&shape));
        let visitor = self.visitor(this, &shape.expecting, &quote!(#newtype #methods));
        let count = found.iter().filter(|field| !field.attributes.skip).count();
        let request = match fields {
            Fields::Named(_) => quote!(deserialize_struct(#name, __NAMES, __Visitor(__seed))),
            _ if is_newtype => quote!(deserialize_newtype_struct(#name, __Visitor(__seed))),
            _ => quote!(deserialize_tuple_struct(#name, #count, __Visitor(__seed))),
        };
        Ok(quote! {
            #constants
            #visitor
            __from.#request
        })
    }

    /// A struct that stands for its only field.
    fn transparent(&self, shape: &Shape<'_>, span: Span) -> Result<TokenStream> {
        let derived = &self.derived;
        let mut live = shape.fields.iter().filter(|field| !field.attributes.skip);
        let (Some(only), None) = (live.next(), live.next()) else {
            let message =
                "`#[serde(transparent)]` needs exactly one field without `#[serde(skip)]`";
            return Err(Error::new(span, message));
        };
        if only.attributes.default.is_some() {
            let message = "`#[serde(default)]` has no meaning in a transparent struct";
            return Err(Error::new(span, message));
        }
        let value = match &only.attributes.with {
            Some(path) => quote!(#path(__from)?),
            None => {
                let seed = self.seed_of(only, &quote!(__seed));
                {
                    let read = only.at(quote!(#derived::DeserializeSeed::deserialize));
                    quote_spanned!(only.span()=> #read(#seed, __from)?)
                }
            }
        };
        let built = shape
            .built(derived, |field| if field.attributes.skip { None } else { Some(value.clone()) });
        Ok(quote!(#derived::core::result::Result::Ok(#built)))
    }

    /// The seed of a field.
    fn seed_of(&self, field: &Field, seed: &TokenStream) -> TokenStream {
        let ty = &field.ty;
        let derived = &self.derived;
        match &field.attributes.with {
            None => {
                let seed = field.at(seed.clone());
                quote_spanned!(field.span()=> #seed.of::<#ty>())
            }
            Some(path) => {
                let (parameters, arguments, bounds) = self.generics.split_for_impl();
                let (this, de) = (self.seed_type(&self.this), self.de());
                quote!({
                    struct __With #parameters (#this) #bounds;

                    impl #parameters #derived::DeserializeSeed<#de> for __With #arguments #bounds {
                        type Value = #ty;

                        fn deserialize<__D: #derived::Deserializer<#de>>(
                            self,
                            __from: __D,
                        ) -> #derived::core::result::Result<#ty, __D::Error> {
                            let _ = self.0;
                            #path(__from)
                        }
                    }

                    __With(self.0)
                })
            }
        }
    }

    /// A visitor of `this`, named `__Visitor`.
    fn visitor(&self, this: &TokenStream, expecting: &str, methods: &TokenStream) -> TokenStream {
        let (derived, de, seed) = (&self.derived, self.de(), self.seed_type(this));
        let (parameters, arguments, bounds) = self.generics.split_for_impl();
        quote! {
            struct __Visitor #parameters (#seed) #bounds;

            impl #parameters #derived::Visitor<#de> for __Visitor #arguments #bounds {
                type Value = #this;

                fn expecting(&self, __f: &mut #derived::fmt::Formatter<'_>) -> #derived::fmt::Result {
                    __f.write_str(#expecting)
                }

                #methods
            }
        }
    }

    /// Names and their numbers, and the seed that reads one.
    fn names(&self, entries: &[(usize, Vec<String>)], count: usize, kind: &str) -> TokenStream {
        let (derived, kind) = (&self.derived, format_ident!("{kind}"));
        let names = entries.iter().flat_map(|(_, names)| names);
        let indexes = entries.iter().flat_map(|(index, names)| names.iter().map(move |_| index));
        quote! {
            const __NAMES: &[&str] = &[#(#names),*];
            const __KEY: #derived::Names = #derived::Names {
                names: __NAMES,
                indexes: &[#(#indexes),*],
                count: #count,
                kind: #derived::Kind::#kind,
            };
        }
    }

    fn visit_newtype(&self, shape: &Shape<'_>) -> TokenStream {
        let (derived, de, this) = (&self.derived, self.de(), &self.this);
        let built = shape.built(derived, |field| {
            let seed = self.seed_of(field, &quote!(self.0));
            let read = field.at(quote!(#derived::DeserializeSeed::deserialize));
            let read = quote_spanned!(field.span()=> #read(#seed, __from));
            Some(quote!(#read?))
        });
        quote! {
            fn visit_newtype_struct<__D: #derived::Deserializer<#de>>(
                self,
                __from: __D,
            ) -> #derived::core::result::Result<#this, __D::Error> {
                #derived::core::result::Result::Ok(#built)
            }
        }
    }

    /// The constants and the methods that visit the fields of a struct or a variant.
    fn visits(&self, shape: &Shape<'_>) -> Result<(TokenStream, TokenStream)> {
        let visit_seq = self.visit_seq(shape);
        if !shape.is_named {
            return Ok((TokenStream::new(), visit_seq));
        }
        let live = shape.fields.iter().filter(|field| !field.attributes.skip);
        let entries: Vec<_> =
            live.clone().map(|field| field.attributes.names(&field.name)).enumerate().collect();
        unique(&entries)?;
        let kind = if self.attributes.deny_unknown_fields { "KnownFields" } else { "Fields" };
        let constants = self.names(&entries, entries.len(), kind);
        let visit_map = self.visit_map(shape);
        Ok((constants, quote!(#visit_seq #visit_map)))
    }

    fn visit_seq(&self, shape: &Shape<'_>) -> TokenStream {
        let (derived, de, this) = (&self.derived, self.de(), &self.this);
        let count = shape.fields.iter().filter(|field| !field.attributes.skip).count();
        let elements = if count == 1 { "element" } else { "elements" };
        let all = match &self.attributes.expecting {
            Some(expecting) => expecting.clone(),
            None => format!("{} with {count} {elements}", shape.expecting),
        };
        let mut index = 0usize;
        let built = shape.built(derived, |field| {
            if field.attributes.skip {
                return None;
            }
            let seed = self.seed_of(field, &quote!(self.0));
            let missing = shape.default_of(field, derived).unwrap_or_else(|| {
                quote! {
                    return #derived::core::result::Result::Err(
                        <__A::Error as #derived::Error>::invalid_length(#index, &#all)
                    )
                }
            });
            index += 1;
            let read = field.at(quote!(#derived::SeqAccess::next_element_seed));
            let read = quote_spanned!(field.span()=> #read(&mut __list, #seed));
            Some(quote! {
                match #read? {
                    #derived::core::option::Option::Some(__value) => __value,
                    #derived::core::option::Option::None => #missing,
                }
            })
        });
        let (default, mutable) = (shape.default_first(), (count > 0).then(|| quote!(mut)));
        quote! {
            fn visit_seq<__A: #derived::SeqAccess<#de>>(
                self,
                #mutable __list: __A,
            ) -> #derived::core::result::Result<#this, __A::Error> {
                #default
                #derived::core::result::Result::Ok(#built)
            }
        }
    }

    fn visit_map(&self, shape: &Shape<'_>) -> TokenStream {
        let (derived, de, this) = (&self.derived, self.de(), &self.this);
        let live = || shape.fields.iter().filter(|field| !field.attributes.skip).enumerate();
        let some = quote!(#derived::core::option::Option::Some);
        let slots = live().map(|(index, field)| {
            let (slot, ty) = (format_ident!("__field{index}"), &field.ty);
            quote!(let mut #slot = #derived::core::option::Option::<#ty>::None;)
        });
        let arms = live().map(|(index, field)| {
            let (slot, name) = (format_ident!("__field{index}"), &field.name);
            let seed = self.seed_of(field, &quote!(self.0));
            let read = field.at(quote!(#derived::MapAccess::next_value_seed));
            let read = quote_spanned!(field.span()=> #read(&mut __map, #seed));
            quote! {
                #index => {
                    if #derived::core::option::Option::is_some(&#slot) {
                        return #derived::core::result::Result::Err(
                            <__A::Error as #derived::Error>::duplicate_field(#name)
                        );
                    }
                    #slot = #some(#read?);
                }
            }
        });
        let mut index = 0usize;
        let built = shape.built(derived, |field| {
            if field.attributes.skip {
                return None;
            }
            let (slot, name) = (format_ident!("__field{index}"), &field.name);
            index += 1;
            let missing =
                shape.default_of(field, derived).unwrap_or_else(|| match field.attributes.with {
                    None => {
                        let seed = self.seed_of(field, &quote!(self.0));
                        quote_spanned!(field.span()=> #derived::missing(#seed, #name)?)
                    }
                    Some(_) => quote! {
                        return #derived::core::result::Result::Err(
                            <__A::Error as #derived::Error>::missing_field(#name)
                        )
                    },
                });
            Some(quote! {
                match #slot {
                    #some(__value) => __value,
                    #derived::core::option::Option::None => #missing,
                }
            })
        });
        let default = shape.default_first();
        quote! {
            fn visit_map<__A: #derived::MapAccess<#de>>(
                self,
                mut __map: __A,
            ) -> #derived::core::result::Result<#this, __A::Error> {
                #(#slots)*
                while let #some(__key) = #derived::MapAccess::next_key_seed(&mut __map, __KEY)? {
                    match __key {
                        #(#arms)*
                        _ => {
                            #derived::MapAccess::next_value::<#derived::IgnoredAny>(&mut __map)?;
                        }
                    }
                }
                #default
                #derived::core::result::Result::Ok(#built)
            }
        }
    }

    fn enumeration(&self, data: &syn::DataEnum) -> Result<TokenStream> {
        let (derived, de, this, name) = (&self.derived, self.de(), &self.this, self.name());
        let own = self.name.unraw();
        let (mut entries, mut arms) = (Vec::new(), Vec::new());
        for variant in &data.variants {
            let attributes = Attributes::of(Owner::Variant, &variant.attrs)?;
            let fields_rule = attributes.rename_all.or(self.attributes.rename_all_fields);
            // The attributes of what is never deserialised are checked too.
            let fields = self.fields(&variant.fields, fields_rule)?;
            if attributes.skip {
                continue;
            }
            let given = variant.ident.unraw().to_string();
            let spelled = match (&attributes.rename, self.attributes.rename_all) {
                (Some(name), _) => name.clone(),
                (None, Some(rule)) => rule.of_variant(&given),
                (None, None) => given.clone(),
            };
            let (index, ident, owner) = (entries.len(), &variant.ident, self.name);
            entries.push((index, attributes.names(&spelled)));
            let kind = match variant.fields {
                Fields::Named(_) => "struct variant",
                _ => "tuple variant",
            };
            let expecting = self.attributes.expecting.clone();
            let shape = Shape {
                path: quote!(#owner::#ident),
                expecting: expecting.unwrap_or_else(|| format!("{kind} {own}::{given}")),
                fields: &fields,
                is_named: matches!(variant.fields, Fields::Named(_)),
                default: None,
            };
            arms.push(self.arm(index, &variant.fields, &shape)?);
        }
        unique(&entries)?;
        let names = self.names(&entries, entries.len(), "Variants");
        let expecting = self.attributes.expecting.clone();
        let expecting = expecting.unwrap_or_else(|| format!("enum {own}"));
        let visit_enum = quote! {
            fn visit_enum<__A: #derived::EnumAccess<#de>>(
                self,
                __data: __A,
            ) -> #derived::core::result::Result<#this, __A::Error> {
                let (__index, __variant) = #derived::EnumAccess::variant_seed(__data, __KEY)?;
                match __index {
                    #(#arms)*
                    _ => #derived::core::result::Result::Err(
                        <__A::Error as #derived::Error>::unknown_variant("", __NAMES)
                    ),
                }
            }
        };
        let visitor = self.visitor(this, &expecting, &visit_enum);
        Ok(quote! {
            #names
            #visitor
            __from.deserialize_enum(#name, __NAMES, __Visitor(__seed))
        })
    }

    /// The arm of a variant in a `match` of its number.
    fn arm(&self, index: usize, fields: &Fields, shape: &Shape<'_>) -> Result<TokenStream> {
        let (derived, this) = (&self.derived, &self.this);
        let value = match (fields, shape.fields) {
            (Fields::Unit, _) => {
                let path = &shape.path;
                quote! {
                    #derived::VariantAccess::unit_variant(__variant)?;
                    #derived::core::result::Result::Ok(#path)
                }
            }
            (Fields::Unnamed(_), [only]) => {
                let seed = self.seed_of(only, &quote!(self.0));
                let built = shape.built(derived, |_| {
                    let read = only.at(quote!(#derived::VariantAccess::newtype_variant_seed));
                    let read = quote_spanned!(only.span()=> #read(__variant, #seed));
                    Some(quote!(#read?))
                });
                quote!(#derived::core::result::Result::Ok(#built))
            }
            (_, all) => {
                let count = all.iter().filter(|field| !field.attributes.skip).count();
                let (constants, methods) = self.visits(shape)?;
                let visitor = self.visitor(this, &shape.expecting, &methods);
                let request = match fields {
                    Fields::Named(_) => {
                        quote!(struct_variant(__variant, __NAMES, __Visitor(self.0)))
                    }
                    _ => quote!(tuple_variant(__variant, #count, __Visitor(self.0))),
                };
                quote! {
                    #constants
                    #visitor
                    #derived::VariantAccess::#request
                }
            }
        };
        Ok(quote!(#index => { #value }))
    }
}

/// Refuses two fields or variants of one name.
fn unique(entries: &[(usize, Vec<String>)]) -> Result<()> {
    let mut known = Vec::new();
    for name in entries.iter().flat_map(|(_, names)| names) {
        if known.contains(&name) {
            return Err(Error::new(Span::call_site(), format!("the name {name:?} is given twice")));
        }
        known.push(name);
    }
    Ok(())
}
