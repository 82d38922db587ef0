//! Where contexts are when they allocate: in the call at the end of the last block, which the calls
//! of their stacks led to.

use rustc_hash::FxHashMap;
use taskgraph::{Block, BlockId, CallStack, Piece, StaticInfo};

use crate::analysis::calls::{ABOVE, follow};
use crate::analysis::source::Place;

/// The largest number of calls that are looked at. A library's may be nested deeply.
const DEEP: usize = 64;
/// The block that allocates, which may be a library's, and calls by the program.
const BLOCKS: usize = 2 + ABOVE;

/// Where something was allocated: the block whose call did it, and the program's own calls that led
/// there, the innermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) blocks: [Option<BlockId>; BLOCKS],
}

/// Where a context is.
#[derive(Debug, Default)]
struct Position {
    /// The block it executed last.
    last: Option<BlockId>,
    /// Nothing while no function is under way.
    stack: Option<Box<CallStack>>,
}

/// Follows the calls of all contexts, by position of the context.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    positions: Vec<Position>,
    /// How many of the program's functions execute where a block calls, inlined ones included.
    own: FxHashMap<BlockId, usize>,
}

impl Calls {
    /// Notes that a context has executed a piece.
    pub(crate) fn note(&mut self, info: &StaticInfo, context: u32, piece: &Piece<'_>) {
        let Some(last) = piece.last_block() else { return };
        let at = context as usize;
        if self.positions.len() <= at {
            self.positions.resize_with(at + 1, Position::default);
        }
        let position = &mut self.positions[at];
        position.last = Some(last);
        let stack = position.stack.get_or_insert_default();
        follow(stack, info, piece, |_, _, _| {});
        let returns = |block: &Block| block.flags & Block::RETURN != 0 && block.call.is_none();
        if stack.frames().len() < 2 && info.block(last).is_some_and(returns) {
            position.stack = None;
        }
    }

    /// Where a context is, with so many of the program's functions above the innermost one. Of
    /// calls from one function, only the innermost is told, so that recursions have one origin.
    pub(crate) fn origin(&mut self, info: &StaticInfo, context: u32, above: usize) -> Origin {
        let mut origin = Origin::default();
        let position = self.positions.get(context as usize);
        let Some((last, position)) = position.and_then(|at| Some((at.last?, at))) else {
            return origin;
        };
        let mut own = |block| {
            let count = || Place::stack_of_call(info, block).len();
            *self.own.entry(block).or_insert_with(count)
        };
        let function = |block: BlockId| info.block(block).map(|block| block.function);
        origin.blocks[0] = Some(last);
        let (mut told, mut places) = (1, own(last));
        let frames = position.stack.iter().flat_map(|stack| stack.frames().iter().rev());
        for call in frames.filter_map(|frame| frame.called_from).take(DEEP) {
            if places > above || told == BLOCKS {
                break;
            }
            let known = origin.blocks[..told].iter().flatten();
            if known.copied().any(|block| function(block) == function(call)) {
                continue;
            }
            let count = own(call);
            if count > 0 {
                origin.blocks[told] = Some(call);
                (told, places) = (told + 1, places + count);
            }
        }
        origin
    }
}
