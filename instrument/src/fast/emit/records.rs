//! Leaves, stored at the cursor where their node executes.

use inkwell::values::{InstructionOpcode, InstructionValue, PointerValue};

use super::super::leaves::Record;
use super::{Built, Emitter};

/// Most leaves that are stored together: all of them stay in registers until the last is known.
const GROUP: usize = 4;

/// The places where the leaves that become known at `places` are stored, in order. Where the
/// program stores in between, a few leaves are stored together: a processor merges neighbouring
/// stores into one write, but not across other stores.
fn grouped<'m>(places: &[InstructionValue<'m>]) -> Vec<InstructionValue<'m>> {
    let mut grouped = places.to_vec();
    for group in grouped.chunks_mut(GROUP) {
        let (first, last) = (group[0], group[group.len() - 1]);
        let mut between = std::iter::successors(Some(first), |i| i.get_next_instruction())
            .take_while(|i| *i != last);
        if between.any(|i| i.get_opcode() == InstructionOpcode::Store) {
            group.fill(last);
        }
    }
    grouped
}

impl<'m> Emitter<'_, 'm> {
    pub(super) fn records(&mut self, n: usize, records: &[Record]) -> Built {
        let node = &self.fast.graph.nodes[n];
        let (mut at, mut base) = (0, None);
        // All places are found before anything is inserted, because several leaves may follow one
        // instruction.
        let place = |r: &Record| match r.source.operand().instruction() {
            Some(i) if r.order > node.first_order => i.get_next_instruction().unwrap_or(node.last),
            _ => node.first,
        };
        let places: Vec<_> = records.iter().map(place).collect();
        for (r, place) in records.iter().zip(grouped(&places)) {
            self.writer.builder.position_before(&place);
            let base = match base {
                Some(base) => base,
                None => *base.insert(self.writer.load_cursor()?),
            };
            self.leaf(base, at, r)?;
            at += u64::from(r.width);
        }
        if let Some(base) = base {
            self.writer.advance(base, at)?;
        }
        Ok(())
    }

    fn leaf(&self, base: PointerValue<'m>, at: u64, r: &Record) -> Built {
        let context = self.writer.context;
        let ty = match r.width {
            1 => context.i8_type(),
            2 => context.i16_type(),
            4 => context.i32_type(),
            _ => context.i64_type(),
        };
        self.writer.value(r.source, ty, base, at)
    }
}
