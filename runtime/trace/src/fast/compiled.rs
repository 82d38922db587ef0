//! A function's table made ready for fast evaluation: linear address forms, globals folded in,
//! loops that can be handed on as affine runs.

use super::expr::{Environment, Expr};
use super::table::{Count, FastFunction, Loop};
use crate::op::Op;

/// Low 48 bits: what the naive form records of an address or length.
pub(crate) const MASK_48: u64 = (1 << 48) - 1;

/// A value to evaluate, wrapping, then masked.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    form: Form,
    mask: u64,
}

#[derive(Debug, Clone)]
enum Form {
    /// constant + sum of coefficient * slot + sum of coefficient * iteration number
    Linear {
        constant: u64,
        slots: Box<[(u32, u64)]>,
        loops: Box<[(u32, u64)]>,
    },
    Tree(Expr),
}

impl Value {
    pub(crate) fn new(expr: &Expr, globals: &[u64], mask: u64) -> Self {
        let mut sum = Sum::default();
        let form = if sum.add(expr, 1, globals) {
            Form::Linear {
                constant: sum.constant,
                slots: sum.slots.into_boxed_slice(),
                loops: sum.loops.into_boxed_slice(),
            }
        } else {
            Form::Tree(expr.with_globals(globals))
        };
        Value { form, mask }
    }

    #[inline]
    pub(crate) fn eval(&self, env: &Environment<'_>) -> u64 {
        let value = match &self.form {
            Form::Linear {
                constant,
                slots,
                loops,
            } => {
                let mut v = *constant;
                for (slot, k) in slots {
                    v = v.wrapping_add(env.slots[*slot as usize].wrapping_mul(*k));
                }
                for (l, k) in loops {
                    v = v.wrapping_add(env.iterations[*l as usize].wrapping_mul(*k));
                }
                v
            }
            Form::Tree(expr) => expr.eval(env),
        };
        value & self.mask
    }

    /// The slot (or none) and constant whose sum it is, if it is one.
    pub(crate) fn slot_plus(&self) -> Option<(Option<u32>, u64)> {
        match &self.form {
            Form::Linear {
                constant,
                slots,
                loops,
            } if loops.is_empty() => match **slots {
                [] => Some((None, *constant)),
                [(slot, 1)] => Some((Some(slot), *constant)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Change per iteration of loop `l`, `None` when not linear.
    fn stride(&self, l: u32) -> Option<u64> {
        match &self.form {
            Form::Linear { loops, .. } => {
                Some(loops.iter().find(|(i, _)| *i == l).map_or(0, |(_, k)| *k))
            }
            Form::Tree(_) => None,
        }
    }

    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }
}

#[derive(Default)]
struct Sum {
    constant: u64,
    slots: Vec<(u32, u64)>,
    loops: Vec<(u32, u64)>,
}

impl Sum {
    /// Adds `factor * expr`; false when that is not linear.
    fn add(&mut self, expr: &Expr, factor: u64, globals: &[u64]) -> bool {
        let constant = |c: u64| c.wrapping_mul(factor);
        match expr {
            Expr::Const(c) => self.constant = self.constant.wrapping_add(constant(*c)),
            Expr::Global(g) => {
                let c = globals.get(*g as usize).copied().unwrap_or(0);
                self.constant = self.constant.wrapping_add(constant(c));
            }
            Expr::Slot(s) => term(&mut self.slots, *s, factor),
            Expr::Iter(l) => term(&mut self.loops, *l, factor),
            Expr::Add(terms) => return terms.iter().all(|t| self.add(t, factor, globals)),
            Expr::Mul(a, b) => match (&**a, &**b) {
                (Expr::Const(c), e) | (e, Expr::Const(c)) => {
                    return self.add(e, factor.wrapping_mul(*c), globals);
                }
                _ => return false,
            },
            Expr::Zext(64, e) | Expr::Sext(64, e) => return self.add(e, factor, globals),
            Expr::Zext(..) | Expr::Sext(..) | Expr::Udiv(..) => return false,
        }
        true
    }
}

fn term(terms: &mut Vec<(u32, u64)>, index: u32, factor: u64) {
    match terms.iter_mut().find(|(i, _)| *i == index) {
        Some((_, k)) => *k = k.wrapping_add(factor),
        None => terms.push((index, factor)),
    }
}

/// A collapsed loop without inner loops and leaves whose operands are all linear.
#[derive(Debug, Clone)]
pub(crate) struct Flat {
    /// Dense block and end of its operands, in order.
    pub(crate) blocks: Vec<(u32, u32)>,
    /// Node and operand of each operand.
    pub(crate) operands: Vec<(u32, u32)>,
    pub(crate) strides: Vec<u64>,
}

/// A function ready to decode.
#[derive(Debug, Clone)]
pub struct Compiled {
    pub(crate) table: FastFunction,
    /// Per node, its operands.
    pub(crate) operands: Vec<Vec<Value>>,
    /// Per loop, its computed count.
    pub(crate) counts: Vec<Option<Value>>,
    /// Per loop, its flat form.
    pub(crate) flat: Vec<Option<Flat>>,
    /// Per node, the collapsed loop it is the header of.
    pub(crate) collapsed: Vec<Option<u32>>,
    pub(crate) first_block: u32,
}

impl Compiled {
    /// `ops` gives the memory operations of a block of the module; the table has been checked.
    pub(crate) fn new<'a>(
        table: FastFunction,
        first_block: u32,
        globals: &[u64],
        ops: impl Fn(u32) -> &'a [Op],
    ) -> Self {
        let operands: Vec<Vec<Value>> = table
            .nodes
            .iter()
            .map(|n| {
                let masks = n.block.map(|b| masks(ops(b))).unwrap_or_default();
                n.operands
                    .iter()
                    .zip(masks)
                    .map(|(e, m)| Value::new(e, globals, m))
                    .collect()
            })
            .collect();
        let counts = table
            .loops
            .iter()
            .map(|l| match l {
                Loop::Collapsed {
                    count: Count::Computed(e),
                    ..
                } => Some(Value::new(e, globals, u64::MAX)),
                _ => None,
            })
            .collect();
        let collapsed = (0..table.nodes.len())
            .map(|n| u32::try_from(n).ok().and_then(|n| table.collapsed_at(n)))
            .collect();
        let mut c = Compiled {
            table,
            operands,
            counts,
            flat: Vec::new(),
            collapsed,
            first_block,
        };
        c.flat = (0..c.table.loops.len())
            .map(|l| u32::try_from(l).ok().and_then(|l| c.flatten(l)))
            .collect();
        c
    }

    fn flatten(&self, l: u32) -> Option<Flat> {
        let Loop::Collapsed { body, last, .. } = &self.table.loops[l as usize] else {
            return None;
        };
        let inner = body[1..]
            .iter()
            .any(|n| self.collapsed[*n as usize].is_some());
        let leaves = body.iter().any(|n| self.table.leaf_bytes(*n) > 0);
        if inner || leaves || *last as usize != body.len() {
            return None;
        }
        let mut flat = Flat {
            blocks: Vec::new(),
            operands: Vec::new(),
            strides: Vec::new(),
        };
        for n in body {
            let Some(block) = self.table.nodes[*n as usize].block else {
                continue;
            };
            for (k, v) in (0..).zip(&self.operands[*n as usize]) {
                flat.strides.push(v.stride(l)?);
                flat.operands.push((*n, k));
            }
            let end = u32::try_from(flat.operands.len()).ok()?;
            flat.blocks.push((self.first_block + block, end));
        }
        Some(flat)
    }
}

/// Mask of each recorded operand of a block.
fn masks(ops: &[Op]) -> Vec<u64> {
    let mut masks = Vec::new();
    for op in ops {
        op.for_each_width(|w| masks.push(if w == 6 { MASK_48 } else { u64::MAX }));
    }
    masks
}

/// Many iterations of the same blocks whose operands change by constants: the compact form of an
/// affine loop.
#[derive(Debug, Clone, Copy)]
pub struct Affine<'a> {
    /// Blocks of one iteration in order: dense index, and where its operands end in `starts`.
    pub blocks: &'a [(u32, u32)],
    /// Operands of the first iteration.
    pub starts: &'a [u64],
    /// Change of each operand per iteration, wrapping; no operand leaves 48 bits.
    pub strides: &'a [u64],
    /// Number of iterations.
    pub iterations: u64,
}

impl Affine<'_> {
    /// Calls `f` for every block execution in program order; `scratch` holds the operands.
    pub fn expand(&self, scratch: &mut Vec<u64>, mut f: impl FnMut(u32, &[u64])) {
        scratch.clear();
        scratch.extend_from_slice(self.starts);
        for _ in 0..self.iterations {
            let mut from = 0;
            for (block, end) in self.blocks {
                f(*block, &scratch[from..*end as usize]);
                from = *end as usize;
            }
            for (v, stride) in scratch.iter_mut().zip(self.strides) {
                *v = v.wrapping_add(*stride);
            }
        }
    }
}
