//! Actions of a task: executions of basic blocks, changes of the address space, and
//! synchronisation.

use contech_program::{AllocKind, SyncOp};

use crate::id::{BlockId, OpId};
use crate::op::{Access, OpKind};
use crate::statics::{Block, StaticInfo};

/// One action of a task, in program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action<'f> {
    /// A basic block was executed.
    Block(BlockExec<'f>),
    /// Memory was allocated.
    Alloc {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
        /// The function that allocated.
        kind: AllocKind,
    },
    /// An allocation was freed.
    Free {
        /// First byte of the allocation.
        addr: u64,
    },
    /// A range of addresses was mapped.
    Map {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// A range of addresses begins a new life without being allocated, and its former contents are
    /// over. Examples are the stack below an OpenMP task that begins, and what the OpenMP runtime
    /// stores of a task.
    Fresh {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// A range of addresses was unmapped.
    Unmap {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// A synchronisation. One that orders nothing with another context (the same thread takes its
    /// lock again, or nobody else touched the atomic variable meanwhile) is an action of a work
    /// task. One that orders is a task of its own ([`TaskKind::Sync`](crate::TaskKind::Sync)),
    /// whose only action it is.
    Sync {
        /// What was done.
        op: SyncOp,
        /// Address of the synchronisation object.
        object: u64,
    },
}

/// One execution of a basic block.
#[derive(Clone, Copy)]
pub struct BlockExec<'f> {
    info: &'f StaticInfo,
    id: BlockId,
    operands: &'f [u64],
}

impl<'f> BlockExec<'f> {
    pub(crate) fn new(info: &'f StaticInfo, id: BlockId, operands: &'f [u64]) -> Self {
        Self { info, id, operands }
    }

    /// The block.
    #[must_use]
    #[inline]
    pub fn id(&self) -> BlockId {
        self.id
    }

    /// The static description of the block.
    #[must_use]
    pub fn about(&self) -> Option<&'f Block> {
        self.info.block(self.id)
    }

    /// The recorded operands of all memory operations of the block, in program order.
    #[must_use]
    #[inline]
    pub fn operands(&self) -> &'f [u64] {
        self.operands
    }

    /// The accesses that the execution made, in program order.
    pub fn accesses(&self) -> impl Iterator<Item = Access> + use<> {
        let mut accesses = Vec::new();
        self.for_each_access(|access| accesses.push(access));
        accesses.into_iter()
    }

    /// Calls `f` for each access, in program order. This is faster than [`BlockExec::accesses`].
    #[inline]
    pub fn for_each_access(&self, mut f: impl FnMut(Access)) {
        let Some(block) = self.info.block(self.id) else {
            return;
        };
        let ops = self.info.ops_of(self.id);
        let mut operands = self.operands;
        for (id, op) in (block.first_op..).zip(ops) {
            // Nearly all operations are plain loads and stores.
            if let (OpKind::Load | OpKind::Store, Some((&addr, rest))) =
                (op.kind, operands.split_first())
            {
                let write = op.kind == OpKind::Store;
                f(Access { addr, size: u64::from(op.size), write, op: OpId::new(id) });
                operands = rest;
                continue;
            }
            let (own, rest) = operands.split_at(op.operand_count().min(operands.len()));
            op.expand(OpId::new(id), own, &mut f);
            operands = rest;
        }
    }
}

impl std::fmt::Debug for BlockExec<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockExec").field("id", &self.id).field("operands", &self.operands).finish()
    }
}

impl PartialEq for BlockExec<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.operands == other.operands
    }
}

impl Eq for BlockExec<'_> {}
