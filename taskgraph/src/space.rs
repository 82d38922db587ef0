//! Address spaces: in a merged run, the addresses of a process have the process's number in front.

use crate::action::Action;
use crate::frame::Played;
use crate::id::BlockId;
use crate::op::OpKind;
use crate::statics::StaticInfo;

/// The bit where the number begins: recorded addresses have 48 bits.
pub(crate) const PREFIX: u32 = 48;

/// Puts the number of the address space in front of the addresses in what was played.
pub(crate) fn prefix(info: &StaticInfo, played: &mut Played<'_>, operands: &mut [u64], space: u16) {
    let front = u64::from(space) << PREFIX;
    match played {
        Played::Block(id) => block(info, *id, operands, front),
        Played::Run { blocks, .. } => {
            let mut from = 0;
            for (id, end) in *blocks {
                let end = *end as usize;
                if let Some(own) = operands.get_mut(from..end) {
                    block(info, *id, own, front);
                }
                from = end;
            }
        }
        Played::Nest { shape, .. } => {
            let mut operands = operands.get_mut(shape.counts()..);
            for (id, own) in shape.blocks() {
                if let Some(own) = operands.as_mut().and_then(|all| all.get_mut(own)) {
                    block(info, id, own, front);
                }
            }
        }
        Played::Other(action) => {
            let (Action::Alloc { addr, .. }
            | Action::Free { addr }
            | Action::Map { addr, .. }
            | Action::Fresh { addr, .. }
            | Action::Unmap { addr, .. }
            | Action::Sync { object: addr, .. }) = action
            else {
                return;
            };
            *addr |= front;
        }
    }
}

fn block(info: &StaticInfo, id: BlockId, operands: &mut [u64], front: u64) {
    let mut rest = operands;
    for op in info.ops_of(id) {
        let Some((own, after)) = rest.split_at_mut_checked(op.operand_count()) else {
            return;
        };
        let addresses = match op.kind {
            OpKind::Copy => 0..2,
            OpKind::Gather | OpKind::Scatter => 1..own.len(),
            _ => 0..1,
        };
        for address in own.get_mut(addresses).into_iter().flatten() {
            *address |= front;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::MemOp;
    use crate::statics::{Block, Function, Module};

    #[test]
    fn addresses_get_the_number_and_lengths_and_masks_do_not() {
        let ops = vec![
            MemOp::load(4),
            MemOp::new(OpKind::Copy, 0, 0),
            MemOp::new(OpKind::Gather, 4, 2),
            MemOp::new(OpKind::MaskedStore, 4, 8),
        ];
        let info = StaticInfo {
            modules: vec![Module::default()],
            files: vec!["a.c".into()],
            functions: vec![Function::default()],
            blocks: vec![Block { op_count: 4, ..Block::default() }],
            ops,
            ..StaticInfo::default()
        };
        let mut operands = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        prefix(&info, &mut Played::Block(BlockId::new(0)), &mut operands, 2);
        let front = 2 << 48;
        let expected = [1 | front, 2 | front, 3 | front, 4, 5, 6 | front, 7 | front, 8 | front, 9];
        assert_eq!(operands, expected);
        let mut free = Played::Other(Action::Free { addr: 16 });
        prefix(&info, &mut free, &mut [], 2);
        assert!(matches!(free, Played::Other(Action::Free { addr }) if addr == 16 | front));
    }
}
