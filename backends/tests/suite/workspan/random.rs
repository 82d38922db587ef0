//! Random fork-join programs against the algorithm of the paper.

use contech_backends::analysis::run;
use contech_backends::workspan::{Options, SiteRow, WorkSpan};
use taskgraph::{Block, BlockId, ContextId};
use workspan::{Kind, Measure, Shadow, Site};

use super::program::Recorder;

/// A function of a random program: its steps, and the blocks they execute.
struct Function {
    entry: BlockId,
    steps: Vec<(Step, BlockId)>,
    sync: BlockId,
    end: BlockId,
    /// Calls of the Cilk-style header's marks, for the serial form.
    spawns: BlockId,
    syncs: BlockId,
}

#[derive(Clone, Copy)]
enum Step {
    Work,
    Call(usize),
    Spawn(usize),
    Sync,
}

struct Random {
    recorder: Recorder,
    functions: Vec<Function>,
    shadow: Shadow,
    fuel: u32,
    times: fastrand::Rng,
    /// Spawns are executed serially and marked, not created.
    serial: bool,
}

impl Random {
    fn new(seed: u64, serial: bool) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut recorder = Recorder::default();
        let mut line = 0;
        let mut next = |random: &mut fastrand::Rng| {
            line += 1;
            (line, 1 + random.u64(..9) as u32)
        };
        let count = 2 + random.u64(..4) as usize;
        let functions = (0..count)
            .map(|f| {
                let name = format!("f{f}");
                let mut block = |r: &mut Recorder, random: &mut fastrand::Rng, flags| {
                    let (line, ops) = next(random);
                    r.block(&name, line, ops, flags)
                };
                let entry = block(&mut recorder, &mut random, Block::ENTRY);
                let sync = block(&mut recorder, &mut random, 0);
                let end = block(&mut recorder, &mut random, Block::RETURN);
                let steps = (0..1 + random.u64(..6)).map(|_| {
                    let callee = random.u64(..count as u64) as usize;
                    let step = random.u64(..8);
                    if step == 7 {
                        return (Step::Sync, sync);
                    }
                    let (line, ops) = next(&mut random);
                    match step {
                        0..2 => (Step::Work, recorder.block(&name, line, ops, 0)),
                        2..4 => (
                            Step::Call(callee),
                            recorder.call(&name, line, ops, &format!("f{callee}")),
                        ),
                        _ => {
                            (Step::Spawn(callee), recorder.call(&name, line, ops, "pthread_create"))
                        }
                    }
                });
                let steps = steps.collect();
                let mut mark = |callee: &str| {
                    let (line, ops) = next(&mut random);
                    recorder.call(&name, line, ops, callee)
                };
                let (spawns, syncs) = (mark("contech_cilk_spawn"), mark("contech_cilk_sync"));
                Function { spawns, syncs, entry, steps, sync, end }
            })
            .collect();
        Self { recorder, functions, shadow: Shadow::default(), fuel: 60, times: random, serial }
    }

    fn block(&mut self, context: ContextId, block: BlockId) {
        // Times at random: no two paths have the same length.
        let ns = self.times.u64(..1 << 30);
        self.recorder.run(context, block);
        self.recorder.cut_after(context, ns);
        self.shadow.advance(ns);
    }

    fn invoke(&mut self, context: ContextId, f: usize, depth: u32) {
        let mut children = Vec::new();
        self.block(context, self.functions[f].entry);
        for at in 0..self.functions[f].steps.len() {
            let (step, block) = self.functions[f].steps[at];
            let deeper = depth < 12 && self.fuel > 0;
            let enter = |kind| Site { id: block.get(), caller: f as u32, kind };
            match step {
                Step::Call(callee) if deeper => {
                    self.fuel -= 1;
                    self.block(context, block);
                    self.shadow.enter(enter(Kind::Call), ());
                    self.invoke(context, callee, depth + 1);
                }
                Step::Spawn(callee) if deeper => {
                    self.fuel -= 1;
                    if self.serial {
                        self.block(context, self.functions[f].spawns);
                    }
                    self.block(context, block);
                    let child = if self.serial { context } else { self.recorder.create(context) };
                    self.shadow.enter(enter(Kind::Spawn), ());
                    self.invoke(child, callee, depth + 1);
                    children.push(child);
                }
                Step::Call(_) | Step::Spawn(_) => {}
                Step::Sync => self.sync(context, f, &mut children),
                Step::Work => self.block(context, block),
            }
        }
        if !children.is_empty() {
            self.sync(context, f, &mut children);
        }
        self.block(context, self.functions[f].end);
        self.shadow.leave();
    }

    fn sync(&mut self, context: ContextId, f: usize, children: &mut Vec<ContextId>) {
        self.block(context, self.functions[f].sync);
        if self.serial {
            self.block(context, self.functions[f].syncs);
            children.clear();
        }
        for child in children.drain(..) {
            self.recorder.join(context, child);
        }
        self.shadow.sync();
    }
}

#[test]
fn random_fork_join_programs_have_the_profiles_of_the_papers_algorithm() {
    let mut compared = 0;
    for (seed, serial) in (1..=120).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut program = Random::new(seed, serial);
        let context = program.recorder.main();
        let nobody =
            Site { id: u32::from(u16::MAX), caller: u32::from(u16::MAX), kind: Kind::Call };
        program.shadow.enter(nobody, ());
        program.invoke(context, 0, 0);
        let Random { recorder, shadow, .. } = program;
        let got = run::<WorkSpan>(Options::default(), &recorder.graph()).expect("a report");
        let mut on_span = vec![Measure::default(); usize::from(u16::MAX) + 1];
        shadow.on_span(|site, measure| on_span[site as usize] += measure);
        let total = shadow.on_work(u32::from(u16::MAX)).top_call_site;
        assert_eq!((got.work, got.span), (total.work, total.span), "seed {seed}, serial {serial}");
        for row in got.sites.iter().filter(|row| !row.caller.is_empty()) {
            let at = got_block(row);
            assert!(
                row.on_work == shadow.on_work(at as u32),
                "seed {seed}, serial {serial}: {row:#?}\n{:#?}",
                shadow.on_work(at as u32)
            );
            assert!(
                row.on_span == on_span[at],
                "seed {seed}, serial {serial}: {row:#?}\n{:#?}",
                on_span[at]
            );
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} call sites");
}

/// Blocks are numbered as they are declared, which is by line.
fn got_block(row: &SiteRow) -> usize {
    row.line as usize - 1
}
