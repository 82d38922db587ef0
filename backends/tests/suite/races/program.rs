//! Programs under test: two threads besides main, and the races that are found.

use contech_backends::analysis::Graph;
use contech_backends::races::{Race, Races, Report};
use taskgraph::builder::GraphBuilder;
use taskgraph::{AllocKind, ContextId, MemOp, SyncOp, TaskId};

use crate::graphs::{found, graph};

pub(crate) const X: u64 = 0x1000;

pub(crate) const LOCK: u64 = 0xfeed;

pub(crate) fn report(graph: &Graph) -> Report {
    found::<Races>("--memory 64M", graph)
}

/// A program under test: two threads besides main, and a block for each kind of access at a line of
/// its own.
pub(crate) struct Program {
    pub(crate) b: GraphBuilder,
    pub(crate) main: ContextId,
    pub(crate) one: ContextId,
    pub(crate) two: ContextId,
    line: u32,
    clock: u64,
}

impl Program {
    pub(crate) fn new() -> Self {
        let mut b = GraphBuilder::new();
        let main = b.context("main");
        let mut program = Self { main, one: main, two: main, b, line: 10, clock: 0 };
        program.work(main, |_| {});
        program.one = program.b.create(main);
        program.work(program.one, |_| {});
        program.two = program.b.create(main);
        program.work(program.two, |_| {});
        program
    }

    /// With its two threads.
    pub(crate) fn threads() -> (Self, ContextId, ContextId) {
        let program = Self::new();
        let (one, two) = (program.one, program.two);
        (program, one, two)
    }

    pub(crate) fn work(
        &mut self,
        context: ContextId,
        f: impl FnOnce(&mut taskgraph::builder::WorkBuilder),
    ) -> TaskId {
        self.clock += 10;
        self.b.work(context, self.clock - 10, self.clock, f)
    }

    pub(crate) fn access(&mut self, context: ContextId, addr: u64, op: MemOp) -> TaskId {
        self.line += 1;
        let block = self.b.block("worker", "race.c", self.line, &[op]);
        self.work(context, |w| w.block(block, &[addr]))
    }

    pub(crate) fn write(&mut self, context: ContextId, addr: u64) -> TaskId {
        self.access(context, addr, MemOp::store(8))
    }

    pub(crate) fn read(&mut self, context: ContextId, addr: u64) -> TaskId {
        self.access(context, addr, MemOp::load(8))
    }

    pub(crate) fn alloc(&mut self, context: ContextId, addr: u64, size: u64) {
        self.work(context, |w| w.alloc(addr, size, AllocKind::Malloc));
    }

    pub(crate) fn free(&mut self, context: ContextId, addr: u64) {
        self.work(context, |w| w.free(addr));
    }

    pub(crate) fn sync(&mut self, context: ContextId, object: u64, op: SyncOp) -> TaskId {
        self.clock += 10;
        self.b.sync_at(context, object, op, self.clock, self.clock)
    }

    /// `context` runs `f` under a lock, after the release `after`; returns its release.
    pub(crate) fn locked(
        &mut self,
        context: ContextId,
        after: Option<TaskId>,
        f: impl FnOnce(&mut Self),
    ) -> TaskId {
        let acquire = self.sync(context, LOCK, SyncOp::MutexLock);
        if let Some(release) = after {
            self.b.edge(release, acquire);
        }
        f(self);
        self.sync(context, LOCK, SyncOp::MutexUnlock)
    }

    pub(crate) fn races(self) -> Report {
        report(&graph(self.b))
    }

    /// The only race.
    #[track_caller]
    pub(crate) fn race(self) -> Race {
        let races = self.races().races;
        <[Race; 1]>::try_from(races).map(|[race]| race).expect("one race")
    }

    /// The races as pairs of lines (11 is that of the first access made).
    pub(crate) fn lines(self) -> Vec<(u32, u32)> {
        lines(&self.races().races)
    }
}

pub(crate) fn lines(races: &[Race]) -> Vec<(u32, u32)> {
    races.iter().map(|race| (race.a.place.line, race.b.place.line)).collect()
}

pub(crate) const NONE: [(u32, u32); 0] = [];
