//! Where the stack is at each instruction of a file, and descriptions of that for instructions that were
//! moved.

use crate::refusal::Refusal;
use addr2line::gimli::{
    BaseAddresses, CfaRule, EhFrame, EndianSlice, NativeEndian, Register, RegisterRule,
    UnwindContext, UnwindSection, UnwindTableRow, X86_64, constants,
};
use cargo_ebbtide::trial::entry::{Entry, FACTOR};
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::{Object, ObjectSection};
use std::ops::Range;

/// Where the stack was when the function was called: the distance from a register.
pub(crate) type Base = (Register, i64);

/// Where it is at the first instruction of every function.
pub(crate) const AT_CALL: Base = (X86_64::RSP, 8);

/// The bases of a function, by address.
pub(crate) struct Bases(pub(crate) Vec<(Range<u64>, Base)>);

impl Bases {
    pub(crate) fn at(&self, address: u64) -> Option<Base> {
        Some(self.0.iter().find(|(range, _)| range.contains(&address))?.1)
    }
}

/// The descriptions of a file's frames.
pub(crate) struct Frames<'data> {
    frames: EhFrame<EndianSlice<'data, NativeEndian>>,
    sections: BaseAddresses,
}

impl<'data> Frames<'data> {
    pub(crate) fn of(file: &object::File<'data>) -> Result<Frames<'data>, Refusal> {
        let section = file.section_by_name(".eh_frame").ok_or(Refusal::NoFrames)?;
        let data = section.data().map_err(|error| Refusal::Damaged(error.to_string()))?;
        let sections = BaseAddresses::default().set_eh_frame(section.address());
        Ok(Frames { frames: EhFrame::new(data, NativeEndian), sections })
    }

    /// The code that one description is for, and its bases.
    pub(crate) fn of_code_at(&self, address: u64) -> Option<(Range<u64>, Bases)> {
        let Frames { frames, sections } = self;
        let description =
            frames.fde_for_address(sections, address, EhFrame::cie_from_offset).ok()?;
        let mut context = UnwindContext::new();
        let mut bases = Vec::new();
        let mut table = description.rows(frames, sections, &mut context).ok()?;
        while let Some(row) = table.next_row().ok()? {
            if let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() {
                bases.push((row.start_address()..row.end_address(), (register, offset)));
            }
        }
        let start = description.initial_address();
        Some((start..start + description.len(), Bases(bases)))
    }

    fn row(&self, address: u64) -> Option<UnwindTableRow<usize>> {
        let Frames { frames, sections } = self;
        let mut context = UnwindContext::new();
        let description =
            frames.fde_for_address(sections, address, EhFrame::cie_from_offset).ok()?;
        description.unwind_info_for_address(frames, sections, &mut context, address).ok().cloned()
    }

    /// How the stack is unwound from each of the moved instructions: as from the one that it was.
    pub(crate) fn of_moved(&self, entry: &Entry) -> Vec<u8> {
        let mut program = CallFrames { bytes: Vec::new(), at: 0 };
        let options = DecoderOptions::NONE;
        let moved = Decoder::with_ip(64, &entry.moved, 0, options);
        let first = Decoder::with_ip(64, &entry.first, entry.address, options);
        for (old, new) in first.into_iter().zip(moved) {
            let row = self.row(old.ip());
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
        let after = entry.address + entry.first.len() as u64;
        program.row(entry.moved.len() as u64, self.row(after).as_ref());
        program.bytes
    }
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
