//! Finds a function in a program, and how a scope can begin where it does.
//!
//! A function is refused if its new beginning could be noticed: if something jumps into the
//! instructions that are replaced, or if its arguments on the stack cannot be copied.

use crate::{
    debug_info,
    patch::patch,
    refusal::Refusal,
    run,
    spelling::{is_meant, last_name, without_arguments},
    symbols::{self, FunctionAt, Symbols},
};
use addr2line::gimli::{
    BaseAddresses, CfaRule, EhFrame, NativeEndian, Register, RegisterRule, UnwindContext,
    UnwindSection, UnwindTableRow, X86_64, constants,
};
use cargo_ebbtide::trial::entry::{Entry, FACTOR, Fix, MOST, MOST_STACK};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
use object::{Object, ObjectSection};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

/// The bytes of a jump.
const JUMP: usize = 5;

/// The entries of the functions that a user names, in a program or in the first of its libraries that
/// has one; in another file if its path is in front, with a colon. Or why there are none.
pub(crate) fn named_entries(program: &Path, name: &str) -> Result<Vec<Entry>, Refusal> {
    let file = name.split_once(':').filter(|(_, name)| !name.starts_with(':'));
    match file.and_then(|(file, name)| Some((fs::canonicalize(file).ok()?, name))) {
        Some((file, name)) => entries(&[file], name),
        None => entries(&run::modules(program), name),
    }
}

/// The entries of all functions of this name, in the first of these files that has one. The first file
/// is the program.
pub(crate) fn entries(modules: &[PathBuf], name: &str) -> Result<Vec<Entry>, Refusal> {
    let (mut similar, mut callers, mut has_names) = (Vec::new(), Vec::new(), true);
    for (index, module) in modules.iter().enumerate() {
        let bytes = fs::read(module).map_err(Refusal::at(module))?;
        if bytes.starts_with(b"#!") {
            return Err(Refusal::Script(module.clone()));
        }
        let Ok(file) = object::File::parse(&*bytes) else { continue };
        let functions = symbols::functions(&file);
        let found = named(&functions, name)?;
        if found.is_empty() {
            has_names &= index > 0 || file.symbols().next().is_some();
            if run::is_system(module) {
                continue;
            }
            let into = debug_info::inlined_into(&file, name);
            let into = functions.iter().filter(|function| into.contains(&function.address));
            callers.extend(into.map(|function| without_arguments(&function.name).to_owned()));
            let last = last_name(name);
            similar.extend(functions.into_iter().map(|f| f.name).filter(|f| f.contains(last)));
            continue;
        }
        if run::is_system(module) {
            return Err(Refusal::OfTheSystem(name.to_owned()));
        }
        if let Some(made) = found.iter().find(|made| debug_info::is_async(&file, &made.name)) {
            return Err(Refusal::MakesFuture(name.to_owned(), made.name.clone()));
        }
        if found.len() > MOST {
            return Err(Refusal::TooMany(name.to_owned(), found.len()));
        }
        let entry = |function: &&FunctionAt| {
            let entry = entry(&file, &functions, function).map_err(|why| {
                let symbols = Symbols::new();
                let at = symbols.at(&module.to_string_lossy(), function);
                let by_hand = patch(&at, symbols.is_polled(&at.name));
                Refusal::ByHand(function.name.clone(), why.into(), by_hand)
            })?;
            Ok(Entry { module: module.clone(), ..entry })
        };
        return found.iter().map(entry).collect();
    }
    if !has_names {
        return Err(Refusal::NoNames(modules[0].to_string_lossy().into_owned()));
    }
    if !callers.is_empty() {
        return Err(Refusal::Inlined(name.to_owned(), callers));
    }
    Err(Refusal::Unknown(name.to_owned(), similar))
}

/// The functions that a name means: those of this name, or else those whose name ends in it.
fn named<'a>(functions: &'a [FunctionAt], name: &str) -> Result<Vec<&'a FunctionAt>, Refusal> {
    let whole: Vec<&FunctionAt> = functions
        .iter()
        .filter(|function| function.name == name || without_arguments(&function.name) == name)
        .collect();
    if !whole.is_empty() {
        return Ok(whole);
    }
    let ends: Vec<&FunctionAt> =
        functions.iter().filter(|function| is_meant(&function.name, name)).collect();
    let mut names: Vec<String> = ends.iter().map(|function| function.name.clone()).collect();
    names.sort();
    names.dedup();
    if names.len() > 1 {
        return Err(Refusal::NotUnique(name.to_owned(), names));
    }
    Ok(ends)
}

/// Where the stack was when the function was called, seen from an instruction: as the distance from
/// a register.
type Frame<'a> = dyn Fn(u64) -> Option<(Register, i64)> + 'a;

/// The most parts and functions in which a function continues that are read.
const MOST_PARTS: usize = 64;

/// Where the stack is at the first instruction of every function.
const AT_CALL: Option<(Register, i64)> = Some((X86_64::RSP, 8));

fn entry(
    file: &object::File<'_>,
    functions: &[FunctionAt],
    function: &FunctionAt,
) -> Result<Entry, Refusal> {
    let (_, bytes) = code(file, function.address, function.size).ok_or(Refusal::NoCode)?;
    let unwinding = file.section_by_name(".eh_frame").ok_or(Refusal::NoFrames)?;
    let frames = unwinding.data().map_err(|error| Refusal::Damaged(error.to_string()))?;
    let frames = EhFrame::new(frames, NativeEndian);
    let bases = BaseAddresses::default().set_eh_frame(unwinding.address());
    // The code that one description is for, and its frames.
    let described = |address| {
        let description = frames.fde_for_address(&bases, address, EhFrame::cie_from_offset).ok()?;
        let mut context = UnwindContext::new();
        let mut rows = Vec::new();
        let mut table = description.rows(&frames, &bases, &mut context).ok()?;
        while let Some(row) = table.next_row().ok()? {
            if let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() {
                rows.push((row.start_address()..row.end_address(), (register, offset)));
            }
        }
        let start = description.initial_address();
        let frame = move |at: u64| Some(rows.iter().find(|(range, _)| range.contains(&at))?.1);
        Some((start..start + description.len(), frame))
    };
    let (_, frame) = described(function.address).ok_or(Refusal::NoFrames)?;
    let (mut entry, mut jumps) = new_beginning(bytes, function.address, &frame)?;
    entry.unwinding = call_frames(&entry, |at| {
        let at = function.address + at;
        let mut context = UnwindContext::new();
        let description = frames.fde_for_address(&bases, at, EhFrame::cie_from_offset).ok()?;
        description.unwind_info_for_address(&frames, &bases, &mut context, at).ok().cloned()
    });
    let within = function.address + 1..function.address + entry.first.len() as u64;

    // Where it continues: in a part that the compiler has put elsewhere, or in another function, which
    // returns to the caller. Both may read the caller's arguments.
    let whole = function.address..function.address + function.size;
    let mut known = vec![whole];
    let mut targets = jumps.targets.clone();
    while let Some(target) = targets.pop() {
        if known.iter().any(|part| part.contains(&target)) {
            continue;
        }
        let part = described(target).filter(|_| known.len() < MOST_PARTS);
        let part = part.and_then(|(part, frame)| {
            let (section, bytes) = code(file, part.start, part.end - part.start)?;
            (!section.contains("plt")).then_some((part, frame, bytes))
        });
        let Some((part, frame, bytes)) = part else {
            jumps.is_anywhere = true;
            continue;
        };
        let is_function = frame(target) == AT_CALL;
        let before = jumps.targets.len();
        for instruction in Decoder::with_ip(64, bytes, part.start, DecoderOptions::NONE).iter() {
            jumps.add(&instruction, &frame);
            match arguments(&instruction, &frame) {
                Ok(bytes) => entry.stack_bytes = entry.stack_bytes.max(bytes),
                Err(_) if is_function => jumps.is_anywhere = true,
                Err(why) => return Err(why),
            }
        }
        targets.extend(&jumps.targets[before..]);
        known.push(part);
    }
    let is_entered = functions.iter().any(|other| within.contains(&other.address));
    let is_target = jumps.targets.iter().any(|target| within.contains(target));
    if is_entered || is_target || is_in_table(file, &jumps.tables, &within) {
        return Err(Refusal::OwnBeginning);
    }
    if jumps.is_anywhere {
        entry.stack_bytes = entry.stack_bytes.max(MOST_STACK);
    }
    if entry.stack_bytes > MOST_STACK {
        return Err(Refusal::StackBytes(entry.stack_bytes));
    }
    Ok(entry)
}

/// The bytes at an address of the file, and the name of their section.
fn code<'data>(
    file: &object::File<'data>,
    address: u64,
    size: u64,
) -> Option<(String, &'data [u8])> {
    let found = |section: object::Section<'data, '_>| {
        let bytes = section.data_range(address, size).ok()??;
        Some((section.name().unwrap_or_default().to_owned(), bytes))
    };
    file.sections().find_map(found)
}

/// Whether an address in this range is in a table of jumps: in one of these, as the distance from the
/// table, or anywhere in the file, as an address.
fn is_in_table(file: &object::File<'_>, tables: &[u64], range: &Range<u64>) -> bool {
    const MOST_CASES: usize = 4096;
    let is_near = |section: &object::Section<'_, '_>, table: u64| {
        let (start, data) = (section.address(), section.data().unwrap_or_default());
        let data = table.checked_sub(start).and_then(|from| data.get(from as usize..));
        data.unwrap_or_default().chunks_exact(4).take(MOST_CASES).any(|distance| {
            let distance = i32::from_ne_bytes(distance.try_into().unwrap_or_default());
            range.contains(&table.wrapping_add_signed(distance.into()))
        })
    };
    let has_address = |section: &object::Section<'_, '_>| {
        section.data().unwrap_or_default().chunks_exact(8).any(|address| {
            range.contains(&u64::from_ne_bytes(address.try_into().unwrap_or_default()))
        })
    };
    let is_data = |section: &object::Section<'_, '_>| {
        use object::SectionKind::{Data, ReadOnlyData, ReadOnlyDataWithRel};
        matches!(section.kind(), Data | ReadOnlyData | ReadOnlyDataWithRel)
    };
    // What the loader writes into the tables.
    let relocated = file.dynamic_relocations().into_iter().flatten();
    relocated.map(|(_, word)| word.addend().cast_unsigned()).any(|at| range.contains(&at))
        || file.sections().filter(is_data).any(|section| {
            has_address(&section) || tables.iter().any(|table| is_near(&section, *table))
        })
}

/// Where code may continue.
#[derive(Default)]
struct Jumps {
    targets: Vec<u64>,
    /// The addresses that it computes: tables, perhaps.
    tables: Vec<u64>,
    /// Whether it jumps to an address that nobody knows, perhaps of a function with arguments.
    is_anywhere: bool,
}

impl Jumps {
    fn add(&mut self, instruction: &Instruction, frame: &Frame<'_>) {
        let is_call = instruction.flow_control() == FlowControl::Call;
        let is_near = matches!(
            instruction.op0_kind(),
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
        );
        if is_near && !is_call {
            self.targets.push(instruction.near_branch_target());
        }
        if instruction.mnemonic() == Mnemonic::Lea && instruction.is_ip_rel_memory_operand() {
            self.tables.push(instruction.ip_rel_memory_address());
        }
        // Elsewhere, it is a table's.
        self.is_anywhere |= instruction.flow_control() == FlowControl::IndirectBranch
            && frame(instruction.ip()) == AT_CALL;
    }
}

/// The entry of a function with these bytes, without its module, and where it jumps to.
fn new_beginning(bytes: &[u8], address: u64, frame: &Frame<'_>) -> Result<(Entry, Jumps), Refusal> {
    let mut entry = Entry {
        module: PathBuf::new(),
        address,
        first: Vec::new(),
        moved: Vec::new(),
        fixes: Vec::new(),
        stack_bytes: 0,
        unwinding: Vec::new(),
    };
    let mut jumps = Jumps::default();
    for instruction in Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).iter() {
        if instruction.code() == Code::INVALID {
            return Err(Refusal::NotOnlyCode);
        }
        if entry.first.len() < JUMP {
            let size = instruction.len();
            let offset = (instruction.ip() - address) as usize;
            move_instruction(&mut entry, &instruction, &bytes[offset..offset + size])?;
            entry.first.extend(&bytes[offset..offset + size]);
        }
        jumps.add(&instruction, frame);
        entry.stack_bytes = entry.stack_bytes.max(arguments(&instruction, frame)?);
    }
    if entry.first.len() < JUMP {
        return Err(Refusal::Short);
    }
    let replaced = address..address + entry.first.len() as u64;
    if jumps.targets.iter().any(|target| replaced.contains(target)) {
        return Err(Refusal::OwnBeginning);
    }
    Ok((entry, jumps))
}

/// Appends an instruction to those that are moved, so that it does the same at another address.
fn move_instruction(
    entry: &mut Entry,
    instruction: &Instruction,
    bytes: &[u8],
) -> Result<(), Refusal> {
    let relative = |address: u64| address.wrapping_sub(entry.address).cast_signed();
    let after = relative(instruction.next_ip());
    let at = entry.moved.len();
    let distance = |at: usize, target: i64| Fix { at, is_absolute: false, target };
    let is_last = entry.first.len() + bytes.len() >= JUMP;
    let is_direct = instruction.op0_kind() == OpKind::NearBranch64;
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Return | FlowControl::IndirectBranch => {
            entry.moved.extend(bytes);
            if instruction.is_ip_rel_memory_operand() {
                let mut decoder =
                    Decoder::with_ip(64, bytes, instruction.ip(), DecoderOptions::NONE);
                let decoded = decoder.decode();
                let offsets = decoder.get_constant_offsets(&decoded);
                if offsets.displacement_size() != 4 {
                    return Err(Refusal::NarrowAddress);
                }
                // The distance counts from the end of the instruction, not from the end of the word.
                let from = offsets.displacement_offset();
                let behind = (bytes.len() - from - 4) as i64;
                let target = relative(instruction.ip_rel_memory_address());
                entry.fixes.push(distance(at + from, target - behind));
            }
        }
        FlowControl::UnconditionalBranch if is_direct => {
            entry.moved.extend([0xe9, 0, 0, 0, 0]);
            entry.fixes.push(distance(at + 1, relative(instruction.near_branch_target())));
        }
        FlowControl::ConditionalBranch if instruction.is_jcc_short_or_near() => {
            // The conditions are numbered as the processor does, from 1.
            let condition = 0x7f + instruction.condition_code() as u8;
            entry.moved.extend([0x0f, condition, 0, 0, 0, 0]);
            entry.fixes.push(distance(at + 2, relative(instruction.near_branch_target())));
        }
        // The function that is called returns to the instruction behind, at its old address: what
        // unwinds the stack knows no other.
        FlowControl::Call if is_direct && is_last => {
            entry.moved.extend([0xff, 0x35, 5, 0, 0, 0, 0xe9, 0, 0, 0, 0]);
            entry.fixes.push(distance(at + 7, relative(instruction.near_branch_target())));
            entry.fixes.push(Fix { at: at + 11, is_absolute: true, target: after });
            entry.moved.extend([0; 8]);
        }
        FlowControl::IndirectCall if instruction.is_ip_rel_memory_operand() && is_last => {
            entry.moved.extend([0xff, 0x35, 6, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0]);
            let target = relative(instruction.ip_rel_memory_address());
            entry.fixes.push(distance(at + 8, target));
            entry.fixes.push(Fix { at: at + 12, is_absolute: true, target: after });
            entry.moved.extend([0; 8]);
        }
        _ => return Err(Refusal::OnlyThere),
    }
    Ok(())
}

/// How the stack is unwound from each of the moved instructions: as from the one that it was.
/// `row` describes the function at a distance from its beginning.
fn call_frames(entry: &Entry, row: impl Fn(u64) -> Option<UnwindTableRow<usize>>) -> Vec<u8> {
    let mut program = CallFrames { bytes: Vec::new(), at: 0 };
    let options = DecoderOptions::NONE;
    let moved = Decoder::with_ip(64, &entry.moved, 0, options);
    for (old, new) in Decoder::with_ip(64, &entry.first, 0, options).into_iter().zip(moved) {
        let row = row(old.ip());
        program.row(new.ip(), row.as_ref());
        if matches!(old.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
            // A push of the address of return, and a jump.
            if let Some(CfaRule::RegisterAndOffset { register: X86_64::RSP, offset }) =
                row.as_ref().map(UnwindTableRow::cfa)
            {
                program.advance(new.next_ip());
                program.cfa(X86_64::RSP, offset + 8);
            }
        }
    }
    program.row(entry.moved.len() as u64, row(entry.first.len() as u64).as_ref());
    program.bytes
}

/// Instructions of DWARF for the frames of a piece of code.
struct CallFrames {
    bytes: Vec<u8>,
    at: u64,
}

impl CallFrames {
    /// The registers that a row may say something of: all whose numbers are those of words, and the
    /// address of return.
    const REGISTERS: u16 = 17;

    fn advance(&mut self, to: u64) {
        // The moved instructions have few bytes.
        let distance = (to - self.at) as u8;
        self.at = to;
        if distance > 0 {
            self.bytes.extend([constants::DW_CFA_advance_loc1.0, distance]);
        }
    }

    fn unsigned(&mut self, mut number: u64) {
        while number > 0x7f {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn signed(&mut self, mut number: i64) {
        while !(-0x40..0x40).contains(&number) {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8 & 0x7f);
    }

    fn cfa(&mut self, register: Register, offset: i64) {
        self.bytes.push(constants::DW_CFA_def_cfa.0);
        self.unsigned(register.0.into());
        self.unsigned(offset.cast_unsigned());
    }

    /// Describes what follows as one row does, or as the outermost frame if that is impossible.
    fn row(&mut self, at: u64, row: Option<&UnwindTableRow<usize>>) {
        self.advance(at);
        let cfa = row.map(|row| (row, row.cfa()));
        let Some((row, CfaRule::RegisterAndOffset { register, offset })) = cfa else {
            self.bytes.push(constants::DW_CFA_undefined.0);
            return self.unsigned(X86_64::RA.0.into());
        };
        self.cfa(*register, *offset);
        for register in (0..Self::REGISTERS).map(Register).filter(|r| *r != X86_64::RSP) {
            let (kind, offset) = match row.register(register) {
                RegisterRule::Offset(offset) => {
                    (constants::DW_CFA_offset_extended_sf, Some(offset / FACTOR))
                }
                RegisterRule::Undefined if register == X86_64::RA => {
                    (constants::DW_CFA_undefined, None)
                }
                _ => (constants::DW_CFA_same_value, None),
            };
            self.bytes.push(kind.0);
            self.unsigned(register.0.into());
            offset.into_iter().for_each(|offset| self.signed(offset));
        }
    }
}

/// The bytes of arguments on the stack that the function must have for this instruction.
fn arguments(instruction: &Instruction, frame: &Frame<'_>) -> Result<usize, Refusal> {
    let has_memory =
        (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    let base = match instruction.memory_base() {
        iced_x86::Register::RSP => X86_64::RSP,
        iced_x86::Register::RBP => X86_64::RBP,
        _ => return Ok(0),
    };
    let Some((register, offset)) = frame(instruction.ip()) else {
        return Err(Refusal::NoFrames);
    };
    if !has_memory || register != base {
        return Ok(0);
    }
    // What the caller has pushed begins where the stack was before the call.
    let from = instruction.memory_displacement64().cast_signed() - offset;
    let Ok(from) = usize::try_from(from) else { return Ok(0) };
    let is_counted = instruction.memory_index() == iced_x86::Register::None;
    if instruction.mnemonic() == Mnemonic::Lea || !is_counted {
        return Err(Refusal::StackAddress);
    }
    Ok(from + instruction.memory_size().size().max(8))
}

#[cfg(test)]
mod tests {
    use super::{AT_CALL, Fix, Refusal, new_beginning};

    /// A function that has pushed nothing.
    fn beginning(bytes: &[u8]) -> Result<super::Entry, Refusal> {
        new_beginning(bytes, 0x1000, &|_| AT_CALL).map(|(entry, _)| entry)
    }

    fn distance(at: usize, target: i64) -> Fix {
        Fix { at, is_absolute: false, target }
    }

    #[test]
    fn whole_instructions_are_moved() {
        // push rbp; mov rbp, rsp; push rbx; ret
        let entry = beginning(&[0x55, 0x48, 0x89, 0xe5, 0x53, 0xc3]).unwrap();
        assert_eq!(
            (&entry.first[..], &entry.fixes[..]),
            (&[0x55, 0x48, 0x89, 0xe5, 0x53][..], &[][..])
        );
        assert_eq!(entry.moved, entry.first);
    }

    #[test]
    fn what_depends_on_the_address_is_mended() {
        // mov byte ptr [rip + 0x10], 1; ret
        let entry = beginning(&[0xc6, 0x05, 0x10, 0, 0, 0, 1, 0xc3]).unwrap();
        assert_eq!(entry.fixes, [distance(2, 7 + 0x10 - 1)]);
        // test edi, edi; je +9; mov eax, 1 …; the jump gets 32 bits
        let bytes = [0x85, 0xff, 0x74, 0x09, 0xb8, 1, 0, 0, 0, 0xc3, 0x90, 0x90, 0x90, 0xc3];
        let entry = beginning(&bytes).unwrap();
        assert_eq!(entry.moved, [0x85, 0xff, 0x0f, 0x84, 0, 0, 0, 0, 0xb8, 1, 0, 0, 0]);
        assert_eq!(entry.fixes, [distance(4, 13)]);
        // push rax; call +0x20; pop rax; ret: the call returns to the old place
        let entry = beginning(&[0x50, 0xe8, 0x20, 0, 0, 0, 0x58, 0xc3]).unwrap();
        assert_eq!(entry.first.len(), 6);
        assert_eq!(entry.moved[..8], [0x50, 0xff, 0x35, 5, 0, 0, 0, 0xe9]);
        let back = Fix { at: 12, is_absolute: true, target: 6 };
        assert_eq!(entry.fixes, [distance(8, 0x26), back]);
    }

    #[test]
    fn functions_that_would_notice_are_refused() {
        let refused = |bytes: &[u8], words: &str| {
            let why = beginning(bytes).unwrap_err();
            assert!(why.to_string().contains(words), "{why}");
        };
        refused(&[0x31, 0xc0, 0xc3], "shorter");
        // xor eax, eax; dec edi; jnz -4
        refused(&[0x31, 0xc0, 0xff, 0xcf, 0x75, 0xfc, 0xc3], "its own beginning");
        refused(&[0xe3, 0x03, 0x90, 0x90, 0x90, 0xc3], "at their address only");
        refused(&[0x55, 0x06, 0x06, 0x06, 0x06, 0x06], "not all of it is code");
        // lea rax, [rsp + 8]
        refused(&[0x48, 0x8d, 0x44, 0x24, 0x08, 0xc3], "takes the address");
    }

    #[test]
    fn arguments_on_the_stack_are_counted() {
        // mov rax, [rsp + 8]; mov rcx, [rsp + 16]; mov rdx, [rsp - 8]; ret
        let bytes = [
            0x48, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x8b, 0x4c, 0x24, 0x10, 0x48, 0x8b, 0x54, 0x24,
            0xf8, 0xc3,
        ];
        assert_eq!(beginning(&bytes).unwrap().stack_bytes, 16);
    }
}
