//! How a scope can begin where a function does.
//!
//! A function is refused if its new beginning could be noticed: if something jumps into the
//! instructions that are replaced, or if its arguments on the stack cannot be copied.

use crate::{
    frames::{AT_CALL, Bases, Frames},
    refusal::Refusal,
    symbols::FunctionAt,
};
use addr2line::gimli::X86_64;
use cargo_ebbtide::trial::entry::{Entry, Fix, MOST_STACK};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
use object::{Object, ObjectSection};
use std::{ops::Range, path::PathBuf};

/// The bytes of a jump.
const JUMP: usize = 5;

/// The most parts and functions in which a function continues that are read.
const MOST_PARTS: usize = 64;

/// The entry of one of the `functions` of a file, without its module.
pub(crate) fn entry(
    file: &object::File<'_>,
    functions: &[FunctionAt],
    function: &FunctionAt,
) -> Result<Entry, Refusal> {
    let (_, bytes) = code(file, function.address, function.size).ok_or(Refusal::NoCode)?;
    let frames = Frames::of(file)?;
    let (_, bases) = frames.of_code_at(function.address).ok_or(Refusal::NoFrames)?;
    let (mut entry, mut jumps) = new_beginning(bytes, function.address, &bases)?;
    entry.unwinding = frames.of_moved(&entry);
    read_on(file, &frames, function, &mut entry, &mut jumps)?;
    let within = function.address + 1..function.address + entry.first.len() as u64;
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

/// Reads what a function continues in: a part that the compiler has put elsewhere, or another function,
/// which returns to the caller. Both may read the caller's arguments.
fn read_on(
    file: &object::File<'_>,
    frames: &Frames<'_>,
    function: &FunctionAt,
    entry: &mut Entry,
    jumps: &mut Jumps,
) -> Result<(), Refusal> {
    let whole = function.address..function.address + function.size;
    let mut known = vec![whole];
    let mut targets = jumps.targets.clone();
    while let Some(target) = targets.pop() {
        if known.iter().any(|part| part.contains(&target)) {
            continue;
        }
        let part = frames.of_code_at(target).filter(|_| known.len() < MOST_PARTS);
        let part = part.and_then(|(part, bases)| {
            let (section, bytes) = code(file, part.start, part.end - part.start)?;
            (!section.contains("plt")).then_some((part, bases, bytes))
        });
        let Some((part, bases, bytes)) = part else {
            jumps.is_anywhere = true;
            continue;
        };
        let is_function = bases.at(target) == Some(AT_CALL);
        let before = jumps.targets.len();
        for instruction in Decoder::with_ip(64, bytes, part.start, DecoderOptions::NONE).iter() {
            jumps.add(&instruction, &bases);
            match arguments(&instruction, &bases) {
                Ok(bytes) => entry.stack_bytes = entry.stack_bytes.max(bytes),
                Err(_) if is_function => jumps.is_anywhere = true,
                Err(why) => return Err(why),
            }
        }
        targets.extend(&jumps.targets[before..]);
        known.push(part);
    }
    Ok(())
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
    fn add(&mut self, instruction: &Instruction, bases: &Bases) {
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
            && bases.at(instruction.ip()) == Some(AT_CALL);
    }
}

/// The entry of a function with these bytes, without its module, and where it jumps to.
fn new_beginning(bytes: &[u8], address: u64, bases: &Bases) -> Result<(Entry, Jumps), Refusal> {
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
        jumps.add(&instruction, bases);
        entry.stack_bytes = entry.stack_bytes.max(arguments(&instruction, bases)?);
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

/// The bytes of arguments on the stack that the function must have for this instruction.
fn arguments(instruction: &Instruction, bases: &Bases) -> Result<usize, Refusal> {
    let has_memory =
        (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    let base = match instruction.memory_base() {
        iced_x86::Register::RSP => X86_64::RSP,
        iced_x86::Register::RBP => X86_64::RBP,
        _ => return Ok(0),
    };
    let Some((register, offset)) = bases.at(instruction.ip()) else {
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
    use super::{AT_CALL, Bases, Fix, Refusal, new_beginning};

    /// A function that has pushed nothing.
    fn beginning(bytes: &[u8]) -> Result<super::Entry, Refusal> {
        new_beginning(bytes, 0x1000, &Bases(vec![(0..u64::MAX, AT_CALL)])).map(|(entry, _)| entry)
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
