//! The calls that led somewhere: followed through what a context executes, and told as places of
//! the program.

use taskgraph::{AffineRun, Again, BlockId, CallStack, NestRuns, Piece, StaticInfo};

/// The largest number of calls above a place that are told.
pub(crate) const ABOVE: usize = 3;
/// Iterations of a loop after which calls have the same callers as before, unless it is a
/// recursion.
const ITERATIONS: u64 = 2;

/// Follows a call stack through a piece. `each` is given the stack at a block, the block, and how
/// often it is executed so; what a loop does again in the same stack comes once.
pub(crate) fn follow(
    stack: &mut CallStack,
    info: &StaticInfo,
    piece: &Piece<'_>,
    each: impl FnMut(&CallStack, BlockId, u64),
) {
    let mut way = Way { stack, info, each };
    match piece {
        Piece::Blocks(blocks) => {
            blocks.for_each_row(|row| way.again_and_again(row.times(), 1, || row.blocks()));
        }
        Piece::Run(run) => way.run(run, 1),
        Piece::Nest(nest) if !way.stays(piece) => way.nest(nest, true),
        _ => {}
    }
}

struct Way<'a, F> {
    stack: &'a mut CallStack,
    info: &'a StaticInfo,
    each: F,
}

impl<F: FnMut(&CallStack, BlockId, u64)> Way<'_, F> {
    /// Executes a piece in which no function begins or ends; returns whether it is such a one.
    fn stays(&mut self, piece: &Piece<'_>) -> bool {
        let (info, stack) = (self.info, &self.stack);
        let mut same = true;
        piece.for_each_times(|block, _| {
            same &= info.block(block).is_some_and(|block| stack.stays(block));
        });
        if let Some(last) = piece.last_block().filter(|_| same) {
            piece.for_each_times(|block, times| (self.each)(self.stack, block, times));
            self.stack.step(self.info, last);
        }
        same
    }

    /// Executes blocks so often; each time stands for `weight`.
    #[inline]
    fn again_and_again<B: Iterator<Item = BlockId>>(
        &mut self,
        times: u64,
        weight: u64,
        blocks: impl Fn() -> B,
    ) {
        let (mut left, mut before) = (times, None);
        while left > 0 {
            self.stack.settle();
            let depth = self.stack.frames().len();
            // What finds the stack as deep as the time before leaves it so, too.
            let now = if before.replace(depth) == Some(depth) { left } else { 1 };
            for block in blocks() {
                self.stack.step(self.info, block);
                (self.each)(self.stack, block, now.saturating_mul(weight));
            }
            left -= now;
        }
    }
}

impl<F: FnMut(&CallStack, BlockId, u64)> NestRuns for Way<'_, F> {
    fn run(&mut self, run: &AffineRun<'_>, times: u64) {
        self.again_and_again(run.iterations(), times, || run.first().map(|block| block.id()));
    }

    fn again(&mut self, _: usize, done: u64, _: u64) -> Again {
        match done < ITERATIONS {
            true => Again::Next,
            false => Again::Rest,
        }
    }
}
