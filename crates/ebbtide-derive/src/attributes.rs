//! The attributes `#[serde(…)]`: those with effect, those of `Serialize` alone, and the reasons why
//! others are refused. No attribute is ignored silently.

use crate::names::Rule;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, ExprPath, LitStr, Result, Token, Type, meta::ParseNestedMeta,
    spanned::Spanned,
};

/// Where a value comes from that is not in the input.
pub(crate) struct Default(Option<ExprPath>);

impl Default {
    /// The expression of the value.
    pub(crate) fn value(&self, derived: &TokenStream) -> TokenStream {
        match &self.0 {
            Some(path) => quote!(#path()),
            None => quote!(#derived::Default::default()),
        }
    }
}

/// The type that is deserialised instead.
pub(crate) enum Via {
    From(Type),
    TryFrom(Type),
}

/// The attributes of a type, a variant or a field. Each has only some of them.
#[derive(std::default::Default)]
pub(crate) struct Attributes {
    pub(crate) rename: Option<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) rename_all: Option<Rule>,
    pub(crate) rename_all_fields: Option<Rule>,
    pub(crate) default: Option<Default>,
    pub(crate) skip: bool,
    pub(crate) with: Option<ExprPath>,
    pub(crate) deny_unknown_fields: bool,
    pub(crate) transparent: bool,
    pub(crate) via: Option<Via>,
    pub(crate) expecting: Option<String>,
}

/// What attributes belong to.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Owner {
    Struct,
    Enum,
    Variant,
    Field,
}

impl Owner {
    fn name(self) -> &'static str {
        match self {
            Owner::Struct => "a struct",
            Owner::Enum => "an enum",
            Owner::Variant => "a variant",
            Owner::Field => "a field",
        }
    }
}

/// The owners of an attribute that has an effect.
fn owners(name: &str) -> Option<&'static [Owner]> {
    use Owner::{Enum, Field, Struct, Variant};
    Some(match name {
        "rename" => &[Struct, Enum, Variant, Field],
        "rename_all" => &[Struct, Enum, Variant],
        "rename_all_fields" => &[Enum],
        "alias" | "skip" | "skip_deserializing" => &[Variant, Field],
        "default" => &[Struct, Field],
        "deserialize_with" | "with" => &[Field],
        "deny_unknown_fields" | "from" | "try_from" | "expecting" => &[Struct, Enum],
        "transparent" => &[Struct],
        _ => return None,
    })
}

/// Attributes that only `Serialize` reads, with their owners. All but one have a value.
const OF_SERIALIZE: [(&str, &[Owner]); 5] = [
    ("into", &[Owner::Struct, Owner::Enum]),
    ("serialize_with", &[Owner::Variant, Owner::Field]),
    ("skip_serializing", &[Owner::Variant, Owner::Field]),
    ("skip_serializing_if", &[Owner::Field]),
    ("getter", &[Owner::Field]),
];

/// Attributes of `Deserialize` that `DeserializeIn` refuses, and why.
const REFUSED: [(&str, &str); 9] = [
    ("flatten", "it needs a copy of the input; write an `impl`, or see `ebbtide::dynamic`"),
    ("tag", "it needs a copy of the input; write an `impl`, or see `ebbtide::dynamic`"),
    ("content", "it needs a copy of the input; write an `impl`, or see `ebbtide::dynamic`"),
    ("untagged", "it needs a copy of the input; write an `impl`, or see `ebbtide::dynamic`"),
    ("borrow", "strings are borrowed by `Scope::deserialize_borrowing`"),
    ("other", "only internally tagged enums have it"),
    ("bound", "every type parameter must implement `DeserializeIn`"),
    ("remote", "write an implementation for a type of your own around the other"),
    ("crate", "the code names `ebbtide` only"),
];

/// Sets what an attribute may set only once.
fn set<T>(at: &ParseNestedMeta<'_>, target: &mut Option<T>, value: T) -> Result<()> {
    match target.replace(value) {
        None => Ok(()),
        Some(_) => Err(at.error("this is given twice")),
    }
}

fn flag(at: &ParseNestedMeta<'_>, target: &mut bool) -> Result<()> {
    if std::mem::replace(target, true) { Err(at.error("this is given twice")) } else { Ok(()) }
}

/// The text after `=`, or in `(deserialize = "…")`; `None` if there is only one for serialising.
fn text(meta: &ParseNestedMeta<'_>) -> Result<Option<LitStr>> {
    if !meta.input.peek(syn::token::Paren) {
        return meta.value()?.parse().map(Some);
    }
    let mut found = None;
    meta.parse_nested_meta(|part| {
        let text: LitStr = part.value()?.parse()?;
        if part.path.is_ident("deserialize") {
            set(&part, &mut found, text)
        } else if part.path.is_ident("serialize") {
            Ok(())
        } else {
            Err(part.error("expected `serialize` or `deserialize`"))
        }
    })?;
    Ok(found)
}

fn path(text: &LitStr, function: &str) -> Result<ExprPath> {
    let mut path: ExprPath = text.parse()?;
    if !function.is_empty() {
        path.path.segments.push(syn::Ident::new(function, text.span()).into());
    }
    Ok(path)
}

fn rule(text: &LitStr) -> Result<Rule> {
    Rule::named(&text.value()).map_err(|known| Error::new(text.span(), format!("expected {known}")))
}

impl Attributes {
    /// Reads all `#[serde(…)]` among the attributes of `owner`.
    pub(crate) fn of(owner: Owner, attributes: &[Attribute]) -> Result<Self> {
        let mut found = Attributes::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| found.read(owner, &meta))?;
        }
        let all = [found.transparent, found.via.is_some(), found.default.is_some()];
        if owner != Owner::Field && all.iter().filter(|given| **given).count() > 1 {
            let message =
                "only one of `transparent`, `from`, `try_from` and `default` can be given";
            return Err(Error::new(attributes[0].span(), message));
        }
        Ok(found)
    }

    fn read(&mut self, owner: Owner, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            let message = format!("`DeserializeIn` does not support `#[serde({name})]`: {why}");
            return Err(meta.error(message));
        }
        let of_serialize = OF_SERIALIZE.iter().find(|(of, _)| *of == name);
        let Some(owners) = of_serialize.map(|(_, owners)| *owners).or_else(|| owners(&name)) else {
            return Err(meta.error("`DeserializeIn` does not know this attribute of serde"));
        };
        if !owners.contains(&owner) {
            let message = format!("`#[serde({name})]` has no meaning on {}", owner.name());
            return Err(meta.error(message));
        }
        match &*name {
            "skip_serializing" => Ok(()),
            _ if of_serialize.is_some() => meta.value()?.parse::<LitStr>().map(drop),
            "rename" => {
                let Some(text) = text(meta)? else { return Ok(()) };
                set(meta, &mut self.rename, text.value())
            }
            "alias" => {
                self.aliases.push(meta.value()?.parse::<LitStr>()?.value());
                Ok(())
            }
            "rename_all" => {
                let Some(text) = text(meta)? else { return Ok(()) };
                set(meta, &mut self.rename_all, rule(&text)?)
            }
            "rename_all_fields" => {
                let Some(text) = text(meta)? else { return Ok(()) };
                set(meta, &mut self.rename_all_fields, rule(&text)?)
            }
            "default" => {
                let given = meta.input.peek(Token![=]);
                let given = given.then(|| path(&meta.value()?.parse()?, "")).transpose()?;
                set(meta, &mut self.default, Default(given))
            }
            "skip" | "skip_deserializing" => flag(meta, &mut self.skip),
            "deserialize_with" => set(meta, &mut self.with, path(&meta.value()?.parse()?, "")?),
            "with" => set(meta, &mut self.with, path(&meta.value()?.parse()?, "deserialize")?),
            "deny_unknown_fields" => flag(meta, &mut self.deny_unknown_fields),
            "transparent" => flag(meta, &mut self.transparent),
            "from" => {
                let via = meta.value()?.parse::<LitStr>()?.parse()?;
                set(meta, &mut self.via, Via::From(via))
            }
            "try_from" => {
                let via = meta.value()?.parse::<LitStr>()?.parse()?;
                set(meta, &mut self.via, Via::TryFrom(via))
            }
            _ => set(meta, &mut self.expecting, meta.value()?.parse::<LitStr>()?.value()),
        }
    }

    /// The name and the aliases of a field or a variant, in the order of serde's messages.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        let mut names = self.aliases.clone();
        names.push(name.to_owned());
        names.sort();
        names.dedup();
        names
    }
}
