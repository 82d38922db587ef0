//! Every way to go through a nest of loops.

use std::collections::{BTreeMap, BTreeSet};

use taskgraph::{Access, AffineRun, Again, BlockId, Nest, NestAccesses, NestRuns};

/// A block and its accesses.
type Seen = (Option<BlockId>, Vec<Access>);

/// The executions of a nest, which every way to go through it gives.
pub(crate) fn executions(nest: &Nest<'_>) -> Vec<Seen> {
    let mut times = BTreeMap::new();
    nest.for_each_times(|b, n| *times.entry(b).or_insert(0) += n);
    let mut all = Played::default();
    all.nest(nest, true);
    let mut one_by_one = BTreeMap::new();
    let blocks = all.seen.iter().filter_map(|one| one.0);
    blocks.for_each(|b| *one_by_one.entry(b).or_insert(0) += 1);
    assert_eq!(times, one_by_one);
    let mut bare = Vec::new();
    nest.for_each_block(|block| bare.push(Some(block)));
    assert!(all.seen.iter().map(|one| one.0).eq(bare));
    let mut few = Played { few: true, ..Played::default() };
    few.nest(nest, false);
    assert_eq!(few.times, all.times);
    assert!(few.seen.len() <= all.seen.len());
    let mut spread = Places::default();
    spread.nest(nest);
    let each = all.seen.iter().flat_map(|one| &one.1);
    assert!(spread.0 == each.map(|a| (a.op.get(), a.addr, a.write)).collect());
    all.seen
}

/// What a nest executes; if `few`, iterations that do the same are played once and stand for the
/// others.
#[derive(Default)]
struct Played {
    few: bool,
    seen: Vec<Seen>,
    /// How often each access is made.
    times: BTreeMap<(u32, u64), u64>,
}

impl NestRuns for Played {
    fn run(&mut self, run: &AffineRun<'_>, times: u64) {
        run.for_each_block(|block| {
            self.seen.push((Some(block.id()), block.accesses().collect()));
            for access in block.accesses() {
                *self.times.entry((access.op.get(), access.addr)).or_insert(0) += times;
            }
        });
    }

    fn again(&mut self, _: usize, done: u64, _: u64) -> Again {
        match done {
            1.. if self.few => Again::Rest,
            _ => Again::Next,
        }
    }
}

/// The accesses of a nest, without order.
#[derive(Default)]
struct Places(BTreeSet<(u32, u64, bool)>);

impl NestAccesses for Places {
    fn accesses(&mut self, access: &Access, loops: &[(u64, u64)]) {
        match loops {
            [] => _ = self.0.insert((access.op.get(), access.addr, access.write)),
            [(stride, n), inner @ ..] => (0..*n).for_each(|i| {
                let addr = access.addr.wrapping_add(stride.wrapping_mul(i));
                self.accesses(&Access { addr, ..*access }, inner);
            }),
        }
    }
}
