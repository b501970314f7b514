//! Where loops are in machine code: around a call, and around an inlined call in which it is made.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use object::{Object, ObjectSection, SectionKind};
use std::collections::HashSet;

/// The loops around a call that is made in an inlined call, as the code shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turns {
    /// It is made once in the inlined call, at most.
    Once,
    /// A loop is in the inlined call, and none is around that.
    InLoop,
    InBoth,
}

/// The code of a file.
#[derive(Default)]
pub(crate) struct Code {
    /// The bytes of each section, and where they are.
    sections: Vec<(u64, Vec<u8>)>,
}

impl Code {
    pub(crate) fn of(file: &object::File<'_>) -> Code {
        let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let bytes = sections.filter_map(|s| Some((s.address(), s.data().ok()?.to_vec())));
        Code { sections: bytes.collect() }
    }

    fn instruction(&self, address: u64) -> Option<Instruction> {
        self.sections.iter().find_map(|(start, code)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            let code = code.get(at..)?;
            Decoder::with_ip(64, code, address, DecoderOptions::NONE).iter().next()
        })
    }

    /// Visits the code that may run from some addresses on, as long as it is inside of something. Returns
    /// where it leaves that.
    fn follow(
        &self,
        mut next: Vec<u64>,
        is_inside: impl Fn(u64) -> bool,
        mut visit: impl FnMut(&Instruction),
    ) -> Vec<u64> {
        let (mut seen, mut left) = (HashSet::new(), Vec::new());
        while let Some(at) = next.pop() {
            if !seen.insert(at) {
                continue;
            }
            if !is_inside(at) {
                left.push(at);
                continue;
            }
            let Some(instruction) = self.instruction(at) else { continue };
            visit(&instruction);
            let (after, target) = (instruction.next_ip(), instruction.near_branch_target());
            match instruction.flow_control() {
                FlowControl::Return | FlowControl::Exception | FlowControl::IndirectBranch => {}
                FlowControl::UnconditionalBranch => next.push(target),
                FlowControl::ConditionalBranch => next.extend([after, target]),
                _ => next.push(after),
            }
        }
        left
    }

    /// Where loops are around the call that returns to an address. It is made in an inlined call, of which
    /// the code `is_inside`, and which is in a function, of which the code `is_of_host`.
    pub(crate) fn turns(
        &self,
        address: u64,
        is_inside: impl Fn(u64) -> bool,
        is_of_host: impl Fn(u64) -> bool,
    ) -> Turns {
        let is_again = |instruction: &Instruction| {
            let is_call = [FlowControl::Call, FlowControl::IndirectCall];
            is_call.contains(&instruction.flow_control()) && instruction.next_ip() == address
        };
        let mut is_in_loop = false;
        let left = self.follow(vec![address], is_inside, |instruction| {
            // To anywhere.
            let is_unknown = instruction.flow_control() == FlowControl::IndirectBranch;
            is_in_loop |= is_unknown || is_again(instruction);
        });
        if !is_in_loop {
            return Turns::Once;
        }
        let mut is_repeated = false;
        self.follow(left, is_of_host, |next| is_repeated |= is_again(next));
        if is_repeated { Turns::InBoth } else { Turns::InLoop }
    }
}
