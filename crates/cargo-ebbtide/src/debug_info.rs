//! What only the debug information of a file says of its functions.

use crate::spelling::{is_meant, last_name, source_name};
use addr2line::gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, DwAt, Dwarf, DwarfSections,
    EndianSlice, Error, NativeEndian, Unit,
    constants::{
        DW_AT_abstract_origin, DW_AT_linkage_name, DW_AT_name, DW_AT_specification,
        DW_TAG_inlined_subroutine, DW_TAG_subprogram,
    },
};
use object::{Object, ObjectSection};
use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet},
};

type Slice<'f> = EndianSlice<'f, NativeEndian>;

/// A function of the debug information, or a place into which one is inlined.
struct Described<'d, 'f> {
    dwarf: &'d Dwarf<Slice<'f>>,
    unit: &'d Unit<Slice<'f>>,
    entry: &'d DebuggingInformationEntry<'d, 'd, Slice<'f>>,
    /// The address of the function of which this is a part.
    function: Option<u64>,
}

impl Described<'_, '_> {
    fn text(&self, attribute: DwAt) -> Option<String> {
        let value = self.entry.attr_value(attribute).ok()??;
        let text = self.dwarf.attr_string(self.unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    /// The entry that an attribute names.
    fn reference(&self, attribute: DwAt) -> Option<DebugInfoOffset> {
        match self.entry.attr_value(attribute).ok()?? {
            AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&self.unit.header),
            AttributeValue::DebugInfoRef(offset) => Some(offset),
            _ => None,
        }
    }

    fn is_of(&self, functions: &HashSet<DebugInfoOffset>) -> bool {
        [DW_AT_abstract_origin, DW_AT_specification].into_iter().any(|attribute| {
            self.reference(attribute).is_some_and(|other| functions.contains(&other))
        })
    }
}

/// Calls a closure for each function, and for each place into which one is inlined.
fn each(file: &object::File<'_>, mut f: impl FnMut(&Described<'_, '_>)) -> Result<(), Error> {
    let sections = DwarfSections::load(|id| -> Result<Cow<'_, [u8]>, Error> {
        let section = file.section_by_name(id.name());
        Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
    })?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, NativeEndian));
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let mut entries = unit.entries();
        let (mut depth, mut function) = (0, (0, None));
        while let Some((deeper, entry)) = entries.next_dfs()? {
            depth += deeper;
            if depth <= function.0 {
                function = (0, None);
            }
            let is_function = entry.tag() == DW_TAG_subprogram;
            if is_function && let Some(range) = dwarf.die_ranges(&unit, entry)?.next()? {
                function = (depth, Some(range.begin));
            }
            if is_function || entry.tag() == DW_TAG_inlined_subroutine {
                f(&Described { dwarf: &dwarf, unit: &unit, entry, function: function.1 });
            }
        }
    }
    Ok(())
}

/// The functions that a closure finds, with those that refer to them.
fn functions(
    file: &object::File<'_>,
    is_wanted: impl Fn(&Described<'_, '_>) -> bool,
) -> Result<HashSet<DebugInfoOffset>, Error> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        each(file, |described| {
            let is_function = described.entry.tag() == DW_TAG_subprogram;
            if is_function && (described.is_of(&found) || is_wanted(described)) {
                found.extend(described.entry.offset().to_debug_info_offset(&described.unit.header));
            }
        })?;
        if found.len() == before {
            return Ok(found);
        }
    }
}

/// The addresses of the functions into which one of this name is inlined.
pub(crate) fn inlined_into(file: &object::File<'_>, name: &str) -> BTreeSet<u64> {
    let mut into = BTreeSet::new();
    let mut search = || {
        let inlined = functions(file, |described| match described.text(DW_AT_linkage_name) {
            Some(linked) => is_meant(&source_name(&linked), name),
            // Lines alone, as debug information, have no paths.
            None => described.text(DW_AT_name).is_some_and(|short| {
                let generic = short.split('<').next().unwrap_or_default();
                generic == last_name(name)
            }),
        })?;
        if inlined.is_empty() {
            return Ok(());
        }
        each(file, |described| {
            if described.entry.tag() == DW_TAG_inlined_subroutine && described.is_of(&inlined) {
                into.extend(described.function);
            }
        })
    };
    // What cannot be read says nothing.
    let _: Result<(), Error> = search();
    into
}

/// Whether an `async fn` has this name: it makes a future, and has a closure that is polled.
pub(crate) fn is_async(file: &object::File<'_>, name: &str) -> bool {
    let closure = format!("{name}::{{{{closure}}}}");
    functions(file, |described| {
        described.text(DW_AT_name).is_some_and(|name| name.starts_with("{async_fn"))
            && described
                .text(DW_AT_linkage_name)
                .is_some_and(|linked| source_name(&linked) == closure)
    })
    .is_ok_and(|found| !found.is_empty())
}

/// The bodies of `async` functions and blocks, which are polled.
#[derive(Default)]
pub(crate) struct Polled {
    /// Where they begin, or the functions into which they are inlined.
    pub(crate) addresses: HashSet<u64>,
    pub(crate) names: HashSet<String>,
}

pub(crate) fn polled(file: &object::File<'_>) -> Polled {
    let mut polled = Polled::default();
    let mut search = || {
        let bodies = functions(file, |described| {
            described.text(DW_AT_name).is_some_and(|name| name.starts_with("{async_"))
        })?;
        each(file, |described| {
            let offset = described.entry.offset().to_debug_info_offset(&described.unit.header);
            if offset.is_some_and(|offset| bodies.contains(&offset)) {
                polled.addresses.extend(described.function);
                let linked = described.text(DW_AT_linkage_name);
                polled.names.extend(linked.map(|linked| source_name(&linked)));
            }
        })
    };
    let _: Result<(), Error> = search();
    polled
}
