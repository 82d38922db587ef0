//! Expressions made ready for fast evaluation.

use crate::op::{ADDRESS_BYTES, ADDRESS_MASK, MemOp};
use crate::path::Expr;

/// A part of a value that changes: the low bits of a slot and a constant, extended, times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The slot.
    pub slot: u32,
    /// What is added to it.
    pub add: u64,
    /// Bits to shift out at the top, and back again.
    pub shift: u32,
    /// The extension is that of a signed number.
    pub signed: bool,
    /// What that is multiplied by.
    pub factor: u64,
}

impl Term {
    /// Its value, with that of the slot.
    #[inline]
    #[must_use]
    pub fn eval(self, slot: u64) -> u64 {
        let top = slot.wrapping_add(self.add) << self.shift;
        let extended = if self.signed {
            (top.cast_signed() >> self.shift).cast_unsigned()
        } else {
            top >> self.shift
        };
        extended.wrapping_mul(self.factor)
    }
}

/// A value that is evaluated with wrapping arithmetic and then masked.
#[derive(Clone, Debug)]
pub struct Value {
    form: Form,
    mask: u64,
}

#[derive(Clone, Debug)]
enum Form {
    /// `constant + slot`, which is the form of most operands.
    Slot { constant: u64, slot: u32 },
    /// constant + sum of coefficient * slot + sum of coefficient * iteration number + sum of
    /// coefficient * other expression.
    Sum {
        constant: u64,
        slots: Box<[(u32, u64)]>,
        loops: Box<[(u32, u64)]>,
        others: Box<[(Expr, u64)]>,
        /// The same expressions, made ready.
        ready: Box<[Ready]>,
    },
}

/// An expression that is no sum.
#[derive(Clone, Debug)]
enum Ready {
    /// The value shifted to the top and back again, as a signed number or not.
    Extended { shift: u32, signed: bool, of: Form },
    /// The value, shifted to the top and back again, over a constant that is not 0.
    Quotient { shift: u32, of: Form, by: u64 },
    /// Nothing faster than the expression itself.
    Tree,
}

impl Ready {
    fn new(expr: &Expr) -> Self {
        let shift = |bits: u8| 64 - u32::from(bits);
        match expr {
            Expr::Zext(bits, of) | Expr::Sext(bits, of) => Self::Extended {
                shift: shift(*bits),
                signed: matches!(expr, Expr::Sext(..)),
                of: Form::new(of),
            },
            Expr::Udiv(bits, of, by) => match **by {
                Expr::Const(by) if by << shift(*bits) != 0 => Self::Quotient {
                    shift: shift(*bits),
                    of: Form::new(of),
                    by: by << shift(*bits) >> shift(*bits),
                },
                _ => Self::Tree,
            },
            _ => Self::Tree,
        }
    }

    /// The value of `expr`, which this was made of.
    fn eval(&self, expr: &Expr, slots: &[u64], iterations: &[u64]) -> u64 {
        match self {
            Self::Extended { shift, signed, of } => {
                let top = of.eval(slots, iterations) << shift;
                match signed {
                    true => (top.cast_signed() >> shift).cast_unsigned(),
                    false => top >> shift,
                }
            }
            Self::Quotient { shift, of, by } => (of.eval(slots, iterations) << shift >> shift) / by,
            Self::Tree => expr.eval(slots, iterations),
        }
    }
}

impl Form {
    fn new(expr: &Expr) -> Self {
        let mut sum = Sum::default();
        sum.add(expr, 1);
        match (&sum.slots[..], &sum.loops[..], &sum.others[..]) {
            ([(slot, 1)], [], []) => Self::Slot { constant: sum.constant, slot: *slot },
            _ => sum.into(),
        }
    }

    #[inline]
    fn eval(&self, slots: &[u64], iterations: &[u64]) -> u64 {
        match self {
            Self::Slot { constant, slot } => constant.wrapping_add(slots[*slot as usize]),
            Self::Sum { constant, slots: of_slots, loops, others, ready } => {
                let mut v = *constant;
                for (slot, k) in of_slots {
                    v = v.wrapping_add(slots[*slot as usize].wrapping_mul(*k));
                }
                for (l, k) in loops {
                    v = v.wrapping_add(iterations[*l as usize].wrapping_mul(*k));
                }
                for ((other, k), ready) in others.iter().zip(ready) {
                    let own = ready.eval(other, slots, iterations);
                    v = v.wrapping_add(own.wrapping_mul(*k));
                }
                v
            }
        }
    }
}

/// Columns of slots, each with the distance from one row's value to the next.
type Columns<'c> = [(&'c [u64], usize)];

impl Ready {
    /// The values of several rows.
    fn eval_all(&self, expr: &Expr, rows: usize, columns: &Columns<'_>) -> Vec<u64> {
        let (of, shift) = match self {
            Self::Extended { shift, of, .. } | Self::Quotient { shift, of, .. } => (of, *shift),
            Self::Tree => {
                let mut slots = Vec::new();
                let each = |row| {
                    slots.clear();
                    slots.extend(columns.iter().map(|(column, step)| column[row * step]));
                    expr.eval(&slots, &[])
                };
                return (0..rows).map(each).collect();
            }
        };
        let mut values = of.eval_all(rows, columns);
        match self {
            Self::Extended { signed: true, .. } => values
                .iter_mut()
                .for_each(|v| *v = ((*v << shift).cast_signed() >> shift).cast_unsigned()),
            _ => values.iter_mut().for_each(|v| *v = *v << shift >> shift),
        }
        if let Self::Quotient { by, .. } = self {
            values.iter_mut().for_each(|v| *v /= by);
        }
        values
    }
}

impl Form {
    /// The values of several rows. There are no iteration numbers.
    fn eval_all(&self, rows: usize, columns: &Columns<'_>) -> Vec<u64> {
        let column = |slot: u32| {
            let (column, step) = columns[slot as usize];
            column.iter().step_by(step).take(rows)
        };
        match self {
            Self::Slot { constant, slot } => {
                column(*slot).map(|v| v.wrapping_add(*constant)).collect()
            }
            Self::Sum { constant, slots, others, ready, .. } => {
                let mut sums = vec![*constant; rows];
                for &(slot, k) in slots {
                    add_all(&mut sums, column(slot).copied(), k);
                }
                for ((other, k), ready) in others.iter().zip(ready) {
                    add_all(&mut sums, ready.eval_all(other, rows, columns).into_iter(), *k);
                }
                sums
            }
        }
    }
}

/// Adds values, each times `k`.
fn add_all(sums: &mut [u64], values: impl Iterator<Item = u64>, k: u64) {
    for (sum, v) in sums.iter_mut().zip(values) {
        *sum = sum.wrapping_add(v.wrapping_mul(k));
    }
}

impl Value {
    /// Prepares an expression; its value is reduced to `mask`.
    #[must_use]
    pub fn new(expr: &Expr, mask: u64) -> Self {
        let form = Form::new(expr);
        Value { form, mask }
    }

    /// The value; slots and loops must be within the given slices.
    #[inline]
    #[must_use]
    pub fn eval(&self, slots: &[u64], iterations: &[u64]) -> u64 {
        self.form.eval(slots, iterations) & self.mask
    }

    /// The values of several rows, without iteration numbers.
    #[must_use]
    pub fn eval_all(&self, rows: usize, columns: &[(&[u64], usize)]) -> Vec<u64> {
        let mut values = self.form.eval_all(rows, columns);
        values.iter_mut().for_each(|value| *value &= self.mask);
        values
    }

    /// Slot, constant and mask, if the value is only a slot and a constant.
    #[must_use]
    pub fn near(&self) -> Option<(u32, u64, u64)> {
        match self.form {
            Form::Slot { constant, slot } => Some((slot, constant, self.mask)),
            Form::Sum { .. } => None,
        }
    }

    /// The same value, with each slot and each iteration number replaced.
    #[must_use]
    pub fn rebased(&self, replace: &mut impl FnMut(&Expr) -> Expr) -> Self {
        let expr = match &self.form {
            Form::Slot { constant, slot } => {
                Expr::Add(vec![Expr::Const(*constant), replace(&Expr::Slot(*slot))])
            }
            Form::Sum { constant, slots, loops, others, .. } => {
                let times = |k: u64, e| Expr::Mul(Box::new(Expr::Const(k)), Box::new(e));
                let mut terms = vec![Expr::Const(*constant)];
                for (slot, k) in slots {
                    terms.push(times(*k, replace(&Expr::Slot(*slot))));
                }
                for (l, k) in loops {
                    terms.push(times(*k, replace(&Expr::Iter(*l))));
                }
                for (other, k) in others {
                    terms.push(times(*k, other.rebased(replace)));
                }
                Expr::Add(terms)
            }
        };
        Self::new(&expr, self.mask)
    }

    /// Its mask, what of it stays while these slots change, and the terms that do not, before it is
    /// masked. `None` when it is no such sum, or what is not linear depends on the iteration number
    /// of loop `l`.
    #[must_use]
    pub fn split(&self, l: u32, changes: impl Fn(u32) -> bool) -> Option<(u64, Self, Vec<Term>)> {
        let plain = |slot, factor| Term { slot, add: 0, shift: 0, signed: false, factor };
        let mut terms = Vec::new();
        let form = match &self.form {
            Form::Slot { constant, slot } if changes(*slot) => {
                terms.push(plain(*slot, 1));
                let constant = *constant;
                let sum = Sum { constant, ..Sum::default() };
                sum.into()
            }
            Form::Slot { .. } => self.form.clone(),
            Form::Sum { constant, slots, loops, others, .. } => {
                let mut fixed = (Vec::new(), Vec::new());
                for &(slot, k) in slots {
                    match changes(slot) {
                        true => terms.push(plain(slot, k)),
                        false => fixed.0.push((slot, k)),
                    }
                }
                for (other, k) in others {
                    if !other.counts(l) && !other.reads(&changes) {
                        fixed.1.push((other.clone(), *k));
                        continue;
                    }
                    let (bits, signed, inner) = match other {
                        Expr::Sext(bits, inner) => (*bits, true, inner),
                        Expr::Zext(bits, inner) => (*bits, false, inner),
                        _ => return None,
                    };
                    let Form::Slot { constant, slot } = Form::new(inner) else {
                        return None;
                    };
                    terms.push(Term {
                        slot,
                        add: constant,
                        shift: 64 - u32::from(bits),
                        signed,
                        factor: *k,
                    });
                }
                let sum = Sum {
                    constant: *constant,
                    slots: fixed.0,
                    loops: loops.to_vec(),
                    others: fixed.1,
                };
                sum.into()
            }
        };
        let mask = u64::MAX;
        Some((self.mask, Self { form, mask }, terms))
    }

    /// The change per iteration of loop `l`; `None` if the value is not linear in it.
    #[inline]
    #[must_use]
    pub fn stride(&self, l: u32) -> Option<u64> {
        match &self.form {
            Form::Slot { .. } => Some(0),
            Form::Sum { loops, others, .. } => {
                let own = loops.iter().find(|(i, _)| *i == l);
                let fixed = !others.iter().any(|(other, _)| other.counts(l));
                fixed.then(|| own.map_or(0, |(_, k)| *k))
            }
        }
    }

    /// A number of iterations of loop `l`, a small power of two, after which the value is the same
    /// again; `None` if there is none.
    #[must_use]
    pub fn period(&self, l: u32) -> Option<u64> {
        match &self.form {
            Form::Sum { loops, others, .. } if loops.iter().all(|(i, k)| *i != l || *k == 0) => {
                let mut others = others.iter();
                others.try_fold(1, |most, (e, _)| Some(e.period(l, 64)?.max(most)))
            }
            Form::Slot { .. } => Some(1),
            Form::Sum { .. } => None,
        }
    }

    /// Whether `start` and so much more stays within the mask.
    #[must_use]
    pub fn reaches(&self, start: u64, more: i128) -> bool {
        let end = i128::from(start).saturating_add(more);
        (0..=i128::from(self.mask)).contains(&end)
    }

    /// Whether `start` stays within the mask for `iterations` steps of `stride`.
    #[inline]
    #[must_use]
    pub fn stays(&self, start: u64, stride: u64, iterations: u64) -> bool {
        let steps = i128::from(iterations.saturating_sub(1));
        self.reaches(start, i128::from(stride.cast_signed()) * steps)
    }
}

#[derive(Default)]
struct Sum {
    constant: u64,
    slots: Vec<(u32, u64)>,
    loops: Vec<(u32, u64)>,
    others: Vec<(Expr, u64)>,
}

impl From<Sum> for Form {
    fn from(sum: Sum) -> Self {
        let ready = sum.others.iter().map(|(other, _)| Ready::new(other));
        Self::Sum {
            constant: sum.constant,
            ready: ready.collect(),
            slots: sum.slots.into(),
            loops: sum.loops.into(),
            others: sum.others.into(),
        }
    }
}

impl Sum {
    /// Adds `factor * expr`.
    fn add(&mut self, expr: &Expr, factor: u64) {
        match expr {
            Expr::Const(c) => self.constant = self.constant.wrapping_add(c.wrapping_mul(factor)),
            Expr::Slot(s) => term(&mut self.slots, *s, factor),
            Expr::Iter(l) => term(&mut self.loops, *l, factor),
            // Constants took the place of globals when the table was read.
            Expr::Global(_) => {}
            Expr::Add(terms) => terms.iter().for_each(|t| self.add(t, factor)),
            Expr::Mul(a, b) => match (&**a, &**b) {
                (Expr::Const(c), e) | (e, Expr::Const(c)) => {
                    self.add(e, factor.wrapping_mul(*c));
                }
                _ => self.others.push((expr.clone(), factor)),
            },
            Expr::Zext(64, e) | Expr::Sext(64, e) => self.add(e, factor),
            Expr::Zext(..) | Expr::Sext(..) | Expr::Udiv(..) => {
                self.others.push((expr.clone(), factor));
            }
        }
    }
}

fn term(terms: &mut Vec<(u32, u64)>, index: u32, factor: u64) {
    match terms.iter_mut().find(|(i, _)| *i == index) {
        Some((_, k)) => *k = k.wrapping_add(factor),
        None => terms.push((index, factor)),
    }
}

/// The bits that are recorded of each operand of these operations: 48 bits of addresses and
/// lengths, all bits of lane masks.
pub(super) fn operand_masks(ops: &[MemOp]) -> Vec<u64> {
    let mut masks = Vec::new();
    for op in ops {
        op.for_each_width(|w| {
            masks.push(if w == ADDRESS_BYTES { ADDRESS_MASK } else { u64::MAX });
        });
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_and_other_expressions_give_the_same_as_their_trees() {
        let iter = |k| Expr::Mul(Box::new(Expr::Const(k)), Box::new(Expr::Iter(0)));
        let cases = [
            Expr::Add(vec![Expr::Slot(0), Expr::Const(7)]),
            Expr::Add(vec![Expr::Slot(1), iter(24), Expr::Slot(1)]),
            Expr::Sext(32, Box::new(Expr::Add(vec![Expr::Slot(0), iter(3)]))),
            Expr::Zext(64, Box::new(Expr::Udiv(7, Box::new(iter(9)), Box::new(Expr::Const(5))))),
            Expr::Udiv(3, Box::new(iter(9)), Box::new(Expr::Const(8))),
            Expr::Udiv(64, Box::new(iter(9)), Box::new(Expr::Slot(1))),
            Expr::Add(vec![
                Expr::Mul(
                    Box::new(Expr::Zext(1, Box::new(Expr::Slot(1)))),
                    Box::new(Expr::Const(40)),
                ),
                iter(8),
            ]),
        ];
        for e in &cases {
            let v = Value::new(e, ADDRESS_MASK);
            for (slots, i) in [([0, 1], [0]), ([u64::MAX, 5], [1 << 50]), ([9, 1 << 47], [3])] {
                assert_eq!(v.eval(&slots, &i), e.eval(&slots, &i) & ADDRESS_MASK, "{e:?}");
            }
        }
        assert_eq!(Value::new(&cases[1], ADDRESS_MASK).stride(0), Some(24));
        assert_eq!(Value::new(&cases[2], ADDRESS_MASK).stride(0), None);
        assert_eq!(Value::new(&cases[2], ADDRESS_MASK).stride(1), Some(0));
        assert_eq!(Value::new(&cases[6], ADDRESS_MASK).stride(0), Some(8));
    }

    #[test]
    fn what_keeps_low_bits_of_an_iteration_number_comes_again() {
        let zext = |bits, e: &Expr| Expr::Zext(bits, Box::new(e.clone()));
        let three = Expr::Mul(Box::new(Expr::Const(3)), Box::new(Expr::Iter(0)));
        let sum = Expr::Add(vec![three.clone(), Expr::Slot(0), zext(1, &Expr::Iter(0))]);
        let of = |e: &Expr| Value::new(e, ADDRESS_MASK).period(0);
        assert_eq!(of(&three), None);
        assert_eq!(of(&zext(1, &three)), Some(2));
        assert_eq!(of(&Expr::Sext(3, Box::new(sum.clone()))), Some(8));
        assert_eq!(of(&Expr::Add(vec![zext(1, &sum), zext(2, &sum)])), Some(4));
        assert_eq!(of(&zext(9, &three)), None);
        assert_eq!(of(&zext(9, &Expr::Iter(1))), Some(1));
        for e in [zext(1, &three), Expr::Sext(3, Box::new(sum))] {
            let v = Value::new(&e, ADDRESS_MASK);
            let period = v.period(0).expect("it has one");
            for i in 0..40 {
                assert_eq!(v.eval(&[5], &[i]), v.eval(&[5], &[i + period]), "{e:?}");
            }
        }
    }

    #[test]
    fn a_run_stays_only_while_no_operand_wraps() {
        let v = Value::new(&Expr::Slot(0), ADDRESS_MASK);
        assert!(v.stays(0, 8, 100) && v.stays(800, 0u64.wrapping_sub(8), 101));
        assert!(!v.stays(800, 0u64.wrapping_sub(8), 102) && !v.stays(ADDRESS_MASK, 1, 2));
    }
}
