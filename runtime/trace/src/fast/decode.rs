//! From a context's chunks to block executions: parse backwards, evaluate forwards.

use super::compiled::{Affine, Compiled};
use super::expr::Environment;
use super::path::{Item, Plan};
use super::segments::recorded_counts;
use super::straight::{Act, Operand, Straight, leaf};
use super::table::{Count, FastFunction, Loop, LoopStep, Target};
use crate::abi::ID_BYTES;
use crate::event::Event;
use crate::program::{Meaning, Program};
use crate::stream::u48;
use crate::{Error, Result};

/// Bytes of a recorded trip count.
const COUNT_BYTES: usize = 6;

/// Takes what the decoder produces, in program order.
pub trait Sink {
    /// One block execution with the operands of its operations, as the naive form records them.
    fn block(&mut self, block: u32, operands: &[u64]);
    /// One runtime event.
    fn event(&mut self, event: Event);
    /// The iterations of an affine loop at once; unless overridden, expands them into blocks.
    fn affine(&mut self, run: &Affine<'_>, scratch: &mut Vec<u64>) {
        run.expand(scratch, |block, operands| self.block(block, operands));
    }
}

/// No segment executes more nodes than this, which takes many minutes, whatever its trip counts say.
const MOST_EXECUTIONS: u64 = if cfg!(test) { 1 << 16 } else { 1 << 38 };

/// Fewer iterations than this are given as blocks at once.
const AFFINE_MIN: u64 = 4;

/// Decoder of one context's stream: give it the context's chunks in order.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Function (dense index) and node the next segment must start at, unless it is fresh.
    pub(super) expected: Option<Resume>,
    pub(super) slots: Vec<u64>,
    pub(super) iterations: Vec<u64>,
    /// Functions cut by a signal handler, whose records stand between their segments.
    suspended: Vec<Suspended>,
    pub(super) records: Vec<Found>,
    pub(super) counts: Vec<u64>,
    pub(super) operands: Vec<u64>,
    starts: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resume {
    function: u32,
    node: u32,
    resumes: Option<u32>,
}

/// A function that goes on after the handler that interrupted it.
#[derive(Debug)]
struct Suspended {
    expected: Resume,
    slots: Vec<u64>,
    iterations: Vec<u64>,
}

/// Most functions suspended at a time: the runtime records no deeper nesting of handlers, and those
/// left by a jump never go on.
const MOST_SUSPENDED: usize = 16;

#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    offset: u32,
    pub(super) id: u32,
    /// Dense number of its path, [`NO_PATH`] if it is none.
    pub(super) number: u32,
}

const NO_PATH: u32 = u32::MAX;

impl Found {
    /// Where its operands begin.
    pub(super) fn offset(&self) -> usize {
        self.offset as usize
    }
}

impl Decoder {
    /// Forgets what is known, as after lost chunks: segments that need it become errors.
    pub fn forget(&mut self) {
        self.expected = None;
        self.suspended.clear();
    }

    /// Whether the bytes are whole records, whatever came before them.
    pub fn is_whole(&mut self, payload: &[u8], program: &Program) -> bool {
        self.parse(payload, program).is_ok()
    }

    /// Something else begins where a function was to go on: it was interrupted.
    pub(super) fn suspend(&mut self) {
        if let Some(expected) = self.expected.take() {
            if self.suspended.len() == MOST_SUSPENDED {
                self.suspended.remove(0);
            }
            self.suspended.push(Suspended {
                expected,
                slots: std::mem::take(&mut self.slots),
                iterations: std::mem::take(&mut self.iterations),
            });
        }
    }

    /// The function that goes on here, if it was interrupted; those above it never will.
    fn resume(&mut self, here: Resume) -> bool {
        let Some(at) = self.suspended.iter().rposition(|s| s.expected == here) else {
            return false;
        };
        self.suspended.truncate(at + 1);
        if let Some(suspended) = self.suspended.pop() {
            self.slots = suspended.slots;
            self.iterations = suspended.iterations;
        }
        true
    }

    /// Exchanges working memory with `other`, not what is known of the streams: a thread that decodes
    /// many contexts in turn needs it once, not once per context.
    pub fn swap_buffers(&mut self, other: &mut Decoder) {
        std::mem::swap(&mut self.records, &mut other.records);
        std::mem::swap(&mut self.counts, &mut other.counts);
        std::mem::swap(&mut self.operands, &mut other.operands);
    }

    /// Decodes one chunk into `sink`.
    ///
    /// # Errors
    /// At the first record that no writer produces here; what came before it in the chunk has been
    /// given to `sink` only as far as it is whole *and* after the last unreadable id, as the parse
    /// runs backwards.
    pub fn chunk(&mut self, payload: &[u8], program: &Program, sink: &mut impl Sink) -> Result<()> {
        let parsed = self.parse(payload, program);
        if parsed.is_err() {
            self.forget();
        }
        let mut outcome = Ok(());
        while let Some(found) = self.records.pop() {
            if let Err(e) = self.run(payload, program, found, sink) {
                self.forget();
                outcome = Err(e);
            }
        }
        parsed.and(outcome)
    }

    pub(super) fn parse(&mut self, payload: &[u8], program: &Program) -> Result<()> {
        self.records.clear();
        self.counts.clear();
        let mut end = payload.len();
        while end > 0 {
            let at = end
                .checked_sub(ID_BYTES)
                .ok_or_else(|| short(end, ID_BYTES))?;
            let id = u32::from_le_bytes([
                payload[at],
                payload[at + 1],
                payload[at + 2],
                payload[at + 3],
            ]);
            let mut path = NO_PATH;
            let bytes = match program.meaning(id) {
                Some(Meaning::Block { operand_bytes, .. }) => operand_bytes as usize,
                Some(Meaning::Event { field_bytes }) => field_bytes,
                Some(Meaning::Path {
                    number,
                    function,
                    plan,
                    ..
                }) => {
                    path = number;
                    let plan = plan.map_err(Clone::clone)?;
                    match plan.fixed_bytes {
                        Some(n) => n,
                        None => {
                            self.measure(payload, at, &program.function(function).table, plan)?
                        }
                    }
                }
                None => {
                    return Err(Error::Invalid {
                        what: "record id",
                        offset: at as u64,
                        detail: format!("{id:#x} belongs to no module of this trace"),
                    });
                }
            };
            let offset = at.checked_sub(bytes).ok_or_else(|| short(at, bytes))?;
            self.records.push(Found {
                offset: u32::try_from(offset).map_err(|_| short(offset, bytes))?,
                id,
                number: path,
            });
            end = offset;
        }
        Ok(())
    }

    /// Bytes of a segment with recorded loops, reading their counts from behind.
    fn measure(
        &mut self,
        payload: &[u8],
        end: usize,
        f: &FastFunction,
        plan: &Plan,
    ) -> Result<usize> {
        let mut pos = end;
        for item in plan.items.iter().rev() {
            let bytes = match *item {
                Item::Step(_) => 0,
                Item::Node(n) => f.leaf_bytes(n),
                Item::Loop { index, cut, .. } => match &f.loops[index as usize] {
                    Loop::Collapsed {
                        body,
                        last,
                        count: Count::Recorded,
                        ..
                    } => {
                        let at = pos.checked_sub(COUNT_BYTES).ok_or_else(|| short(pos, 6))?;
                        let count = u48(payload, at);
                        self.counts.push(count);
                        let leaves = |nodes: &[u32]| -> usize {
                            nodes.iter().map(|n| f.leaf_bytes(*n)).sum()
                        };
                        let tail = if cut {
                            0
                        } else {
                            leaves(&body[..*last as usize])
                        };
                        usize::try_from(count)
                            .ok()
                            .and_then(|c| leaves(body).checked_mul(c))
                            .and_then(|n| n.checked_add(tail + COUNT_BYTES))
                            .ok_or_else(|| short(pos, usize::MAX))?
                    }
                    _ => 0,
                },
            };
            pos = pos.checked_sub(bytes).ok_or_else(|| short(pos, bytes))?;
        }
        Ok(end - pos)
    }

    fn run(
        &mut self,
        payload: &[u8],
        program: &Program,
        found: Found,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(met) = program.met(found.number) {
            return self.path(payload, program, found, met, sink);
        }
        match program.meaning(found.id) {
            Some(Meaning::Block { block, .. }) => {
                self.suspend();
                self.operands.clear();
                let at = u32::try_from(found.offset()).map_err(|_| short(found.offset(), 0))?;
                crate::stream::operands(payload, at, program.ops(block), &mut self.operands);
                sink.block(block, &self.operands);
                Ok(())
            }
            Some(Meaning::Event { field_bytes }) => {
                let fields = &payload[found.offset()..found.offset() + field_bytes];
                sink.event(Event::decode(found.id, fields)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Executes a segment.
    fn path(
        &mut self,
        payload: &[u8],
        program: &Program,
        found: Found,
        (function, plan, straight): (u32, &Plan, Option<&Straight>),
        sink: &mut impl Sink,
    ) -> Result<()> {
        let compiled = program.function(function);
        let f = &compiled.table;
        if let Some(straight) = straight {
            if straight.alone {
                self.suspend();
            } else {
                self.begin(function, f, plan, found.offset())?;
            }
            self.straight(&payload[found.offset()..], compiled, straight, sink);
            self.expected = next(function, f, plan);
            return Ok(());
        }
        let after = self.counts.len().saturating_sub(recorded_counts(f, plan));
        if let Err(e) = self.begin(function, f, plan, found.offset()) {
            // Those of the segments that follow are their own.
            self.counts.truncate(after);
            return Err(e);
        }
        let mut run = Run {
            payload,
            pos: found.offset(),
            f: compiled,
            decoder: self,
            left: MOST_EXECUTIONS,
        };
        run.items(&plan.items, sink);
        if run.left == 0 {
            return Err(Error::Invalid {
                what: "segment",
                offset: found.offset() as u64,
                detail: format!("its loops execute more than {MOST_EXECUTIONS} nodes"),
            });
        }
        self.expected = next(function, f, plan);
        Ok(())
    }

    /// Executes a segment without collapsed loops, whose record `record` begins with.
    fn straight(&mut self, record: &[u8], f: &Compiled, straight: &Straight, sink: &mut impl Sink) {
        let mut operands = std::mem::take(&mut self.operands);
        let mut from = 0;
        for act in &straight.acts {
            match *act {
                Act::Leaf { at, width, slot } => {
                    self.slots[slot as usize] = read(record, at as usize, width);
                }
                Act::Enter(l) => self.iterations[l as usize] = 0,
                Act::Next(l) => {
                    let i = &mut self.iterations[l as usize];
                    *i = i.wrapping_add(1);
                }
                Act::Block { block, end } => {
                    let end = end as usize;
                    operands.clear();
                    for operand in &straight.operands[from..end] {
                        operands.push(match *operand {
                            Operand::Is(v) => v,
                            Operand::Leaf {
                                at,
                                shift,
                                add,
                                mask,
                            } => leaf(record, at as usize, shift).wrapping_add(add) & mask,
                            Operand::Other { node, k } => {
                                let env = Environment {
                                    slots: &self.slots,
                                    iterations: &self.iterations,
                                    globals: &[], // folded into constants
                                };
                                f.operands[node as usize][k as usize].eval(&env)
                            }
                        });
                    }
                    from = end;
                    sink.block(block, &operands);
                }
            }
        }
        self.operands = operands;
    }

    /// Checks that the segment may start here, and clears what a fresh one does not know. True when it goes on
    /// after an interruption.
    pub(super) fn begin(
        &mut self,
        function: u32,
        f: &FastFunction,
        plan: &Plan,
        at: usize,
    ) -> Result<bool> {
        if plan.fresh {
            self.suspend();
            self.slots.clear();
            self.slots.resize(f.slots as usize, 0);
            self.iterations.clear();
            self.iterations.resize(f.loops.len(), 0);
            return Ok(false);
        }
        let here = Resume {
            function,
            node: plan.start,
            resumes: plan.resumes,
        };
        if self.expected == Some(here) {
            return Ok(false);
        }
        if self.resume(here) {
            return Ok(true);
        }
        Err(Error::Invalid {
            what: "segment",
            offset: at as u64,
            detail: format!("goes on at {here:?}, but {:?} was to follow", self.expected),
        })
    }
}

/// What must follow a segment.
pub(super) fn next(function: u32, f: &FastFunction, plan: &Plan) -> Option<Resume> {
    match plan.end {
        Target::Cut(node) => Some(Resume {
            function,
            node,
            resumes: None,
        }),
        Target::LoopCut(l) => match &f.loops[l as usize] {
            Loop::Collapsed { header, .. } => Some(Resume {
                function,
                node: *header,
                resumes: Some(l),
            }),
            Loop::Plain => None,
        },
        Target::End | Target::Node(_) => None,
    }
}

/// Execution of one segment.
struct Run<'a, 'd> {
    payload: &'a [u8],
    pos: usize,
    f: &'a Compiled,
    decoder: &'d mut Decoder,
    /// Nodes that may still be executed; at 0 loops end.
    left: u64,
}

impl Run<'_, '_> {
    fn items(&mut self, items: &[Item], sink: &mut impl Sink) {
        for item in items {
            match *item {
                Item::Node(n) => self.node(n, sink),
                Item::Loop {
                    index,
                    cut,
                    resumed,
                } => self.collapsed(index, cut, resumed, sink),
                Item::Step(LoopStep::Enter(l)) => self.decoder.iterations[l as usize] = 0,
                Item::Step(LoopStep::Next(l)) => {
                    let i = &mut self.decoder.iterations[l as usize];
                    *i = i.wrapping_add(1);
                }
                Item::Step(LoopStep::None) => {}
            }
        }
    }

    fn collapsed(&mut self, index: u32, cut: bool, resumed: bool, sink: &mut impl Sink) {
        let f = self.f;
        let l = index as usize;
        let Loop::Collapsed {
            body, last, count, ..
        } = &f.table.loops[l]
        else {
            return;
        };
        let recorded = matches!(count, Count::Recorded);
        let count = match &f.counts[l] {
            Some(value) => value.eval(&self.environment()),
            None => self.decoder.counts.pop().unwrap_or(0),
        };
        let base = if resumed {
            self.decoder.iterations[l].wrapping_add(1)
        } else {
            0
        };
        self.decoder.iterations[l] = base;
        let whole = if cut { count } else { count.saturating_add(1) };
        if !self.affine(index, whole, sink) {
            for i in 0..count {
                if self.left == 0 {
                    break;
                }
                self.decoder.iterations[l] = base.wrapping_add(i);
                self.body(body, sink);
            }
            if !cut {
                self.decoder.iterations[l] = base.wrapping_add(count);
                self.body(&body[..*last as usize], sink);
            }
        }
        // After a cut the next segment's first iteration follows the last one run here.
        let ended = base.wrapping_add(count);
        self.decoder.iterations[l] = if cut { ended.wrapping_sub(1) } else { ended };
        if recorded {
            self.pos += COUNT_BYTES;
        }
    }

    /// Hands `iterations` of a flat loop on as one run; false when it is none, short, or an operand
    /// would wrap.
    fn affine(&mut self, index: u32, iterations: u64, sink: &mut impl Sink) -> bool {
        let f = self.f;
        let Some(flat) = &f.flat[index as usize] else {
            return false;
        };
        if iterations < AFFINE_MIN {
            return false;
        }
        let executions = iterations.saturating_mul(flat.blocks.len().max(1) as u64);
        self.left = self.left.saturating_sub(executions);
        if self.left == 0 {
            return true;
        }
        let mut starts = std::mem::take(&mut self.decoder.starts);
        starts.clear();
        let env = self.environment();
        let mut fits = true;
        for ((node, k), stride) in flat.operands.iter().zip(&flat.strides) {
            let value = &f.operands[*node as usize][*k as usize];
            let start = value.eval(&env);
            let end =
                i128::from(start) + i128::from(stride.cast_signed()) * i128::from(iterations - 1);
            fits &= (0..=i128::from(value.mask())).contains(&end);
            starts.push(start);
        }
        if fits {
            let run = Affine {
                blocks: &flat.blocks,
                starts: &starts,
                strides: &flat.strides,
                iterations,
            };
            sink.affine(&run, &mut self.decoder.operands);
        }
        self.decoder.starts = starts;
        fits
    }

    fn body(&mut self, nodes: &[u32], sink: &mut impl Sink) {
        for (i, n) in nodes.iter().enumerate() {
            // The loop's own header is a node here; another collapsed header stands for its loop.
            match (i, self.f.collapsed[*n as usize]) {
                (0, _) | (_, None) => self.node(*n, sink),
                (_, Some(inner)) => self.collapsed(inner, false, false, sink),
            }
        }
    }

    fn node(&mut self, n: u32, sink: &mut impl Sink) {
        let f = self.f;
        let node = &f.table.nodes[n as usize];
        for leaf in &node.leaves {
            self.decoder.slots[leaf.slot as usize] = read(self.payload, self.pos, leaf.width);
            self.pos += usize::from(leaf.width);
        }
        self.left = self.left.saturating_sub(1);
        let Some(block) = node.block.filter(|_| self.left > 0) else {
            return;
        };
        let mut operands = std::mem::take(&mut self.decoder.operands);
        operands.clear();
        let env = self.environment();
        operands.extend(f.operands[n as usize].iter().map(|v| v.eval(&env)));
        sink.block(f.first_block + block, &operands);
        self.decoder.operands = operands;
    }

    fn environment(&self) -> Environment<'_> {
        Environment {
            slots: &self.decoder.slots,
            iterations: &self.decoder.iterations,
            globals: &[], // folded into constants
        }
    }
}

/// A little-endian value of 1, 2, 4, 6 or 8 bytes; what lies outside the payload reads as 0.
#[inline]
fn read(payload: &[u8], at: usize, width: u8) -> u64 {
    leaf(payload, at, 64 - 8 * width.clamp(1, 8))
}

fn short(have: usize, need: usize) -> Error {
    Error::Truncated {
        what: "record",
        offset: 0,
        need: need as u64,
        have: have as u64,
    }
}
