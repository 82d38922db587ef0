//! Expressions that compute operands and trip counts.

use crate::wire::{Malformed, Reader, put_varint};

/// An expression over leaf values and iteration numbers. All arithmetic wraps in 64 bits;
/// [`Expr::Zext`] and [`Expr::Sext`] first reduce to their width, so any width is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Const(u64),
    /// The leaf value in this slot.
    Slot(u32),
    /// The iteration number of this loop, 0 in the first iteration.
    Iter(u32),
    /// The run-time address of a global of the module; in a graph constants take the place of
    /// globals.
    Global(u32),
    /// Sum.
    Add(Vec<Expr>),
    /// Product.
    Mul(Box<Expr>, Box<Expr>),
    /// The low bits (1 to 64), zero-extended.
    Zext(u8, Box<Expr>),
    /// The low bits (1 to 64), sign-extended.
    Sext(u8, Box<Expr>),
    /// Unsigned quotient of the low bits (1 to 64); division by zero gives 0.
    Udiv(u8, Box<Expr>, Box<Expr>),
}

/// The deepest nesting of an expression in a file; deeper nesting is damage.
const MAX_DEPTH: u32 = 80;
/// The largest period of a value has so many bits.
const SHORT: u8 = 4;

impl Expr {
    /// The value of the expression. Slots and loops out of range count as 0 (tables are checked
    /// when they are read).
    #[must_use]
    pub fn eval(&self, slots: &[u64], iterations: &[u64]) -> u64 {
        let at = |s: &[u64], i: u32| s.get(i as usize).copied().unwrap_or(0);
        let of = |e: &Expr| e.eval(slots, iterations);
        match self {
            Expr::Const(c) => *c,
            Expr::Slot(i) => at(slots, *i),
            Expr::Iter(i) => at(iterations, *i),
            // Constants took the place of globals when the table was read.
            Expr::Global(_) => 0,
            Expr::Add(terms) => terms.iter().fold(0, |s, t| s.wrapping_add(of(t))),
            Expr::Mul(a, b) => of(a).wrapping_mul(of(b)),
            Expr::Zext(bits, a) => low(of(a), *bits),
            Expr::Sext(bits, a) => sign_extend(of(a), *bits),
            Expr::Udiv(bits, a, b) => low(of(a), *bits).checked_div(low(of(b), *bits)).unwrap_or(0),
        }
    }

    /// Puts constants in the place of globals.
    pub fn set_globals(&mut self, globals: &[u64]) {
        *self = self.rebased(&mut |e| match e {
            Expr::Global(i) => Expr::Const(globals.get(*i as usize).copied().unwrap_or(0)),
            other => other.clone(),
        });
    }

    /// Whether this is so of the expression or of one that it is made of.
    fn any(&self, is: &impl Fn(&Self) -> bool) -> bool {
        let inside = match self {
            Expr::Const(_) | Expr::Slot(_) | Expr::Iter(_) | Expr::Global(_) => false,
            Expr::Add(terms) => terms.iter().any(|t| t.any(is)),
            Expr::Zext(_, a) | Expr::Sext(_, a) => a.any(is),
            Expr::Mul(a, b) | Expr::Udiv(_, a, b) => a.any(is) || b.any(is),
        };
        inside || is(self)
    }

    /// Whether the value depends on the iteration number of a loop.
    #[must_use]
    pub fn counts(&self, l: u32) -> bool {
        self.any(&|e| matches!(e, Expr::Iter(i) if *i == l))
    }

    /// A number of iterations of loop `l`, a small power of two, after which the low bits of the
    /// value are the same again. `None` if there is none.
    pub(crate) fn period(&self, l: u32, bits: u8) -> Option<u64> {
        let both = |a: &Self, b: &Self, bits| Some(a.period(l, bits)?.max(b.period(l, bits)?));
        match self {
            _ if !self.counts(l) => Some(1),
            Expr::Add(terms) => {
                terms.iter().try_fold(1, |most, t| Some(t.period(l, bits)?.max(most)))
            }
            Expr::Mul(a, b) => both(a, b, bits),
            Expr::Zext(own, a) | Expr::Sext(own, a) => a.period(l, bits.min(*own)),
            Expr::Udiv(own, a, b) => both(a, b, *own),
            _ => (bits <= SHORT).then(|| 1 << bits),
        }
    }

    /// Whether the value depends on one of these slots.
    pub(crate) fn reads(&self, those: &impl Fn(u32) -> bool) -> bool {
        self.any(&|e| matches!(e, Expr::Slot(s) if those(*s)))
    }

    /// The same expression, with each slot, iteration number and global replaced.
    #[must_use]
    pub fn rebased(&self, replace: &mut impl FnMut(&Self) -> Self) -> Self {
        let boxed = |e: &Self, replace: &mut _| Box::new(Self::rebased(e, replace));
        match self {
            Expr::Const(_) => self.clone(),
            Expr::Slot(_) | Expr::Iter(_) | Expr::Global(_) => replace(self),
            Expr::Add(terms) => Expr::Add(terms.iter().map(|t| t.rebased(replace)).collect()),
            Expr::Mul(a, b) => Expr::Mul(boxed(a, replace), boxed(b, replace)),
            Expr::Zext(bits, a) => Expr::Zext(*bits, boxed(a, replace)),
            Expr::Sext(bits, a) => Expr::Sext(*bits, boxed(a, replace)),
            Expr::Udiv(bits, a, b) => Expr::Udiv(*bits, boxed(a, replace), boxed(b, replace)),
        }
    }

    /// Whether every slot, loop and global of the expression is below these numbers, and every
    /// width is from 1 to 64.
    #[must_use]
    pub fn is_within(&self, slots: u32, loops: usize, globals: usize) -> bool {
        let beyond = |e: &Expr| match e {
            Expr::Slot(i) => *i >= slots,
            Expr::Iter(i) => *i as usize >= loops,
            Expr::Global(i) => *i as usize >= globals,
            Expr::Zext(bits, _) | Expr::Sext(bits, _) | Expr::Udiv(bits, ..) => {
                !(1..=64).contains(bits)
            }
            Expr::Const(_) | Expr::Add(_) | Expr::Mul(..) => false,
        };
        !self.any(&beyond)
    }

    /// Appends the bytes of the expression.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut tagged = |tag: u8, v: u64| {
            out.push(tag);
            put_varint(out, v);
        };
        match self {
            Expr::Const(c) => tagged(0, *c),
            Expr::Slot(i) => tagged(1, u64::from(*i)),
            Expr::Iter(i) => tagged(2, u64::from(*i)),
            Expr::Global(i) => tagged(8, u64::from(*i)),
            Expr::Add(terms) => {
                tagged(3, terms.len() as u64);
                terms.iter().for_each(|t| t.encode(out));
            }
            Expr::Mul(a, b) => {
                out.push(4);
                a.encode(out);
                b.encode(out);
            }
            Expr::Zext(bits, a) => {
                out.extend([5, *bits]);
                a.encode(out);
            }
            Expr::Sext(bits, a) => {
                out.extend([6, *bits]);
                a.encode(out);
            }
            Expr::Udiv(bits, a, b) => {
                out.extend([7, *bits]);
                a.encode(out);
                b.encode(out);
            }
        }
    }

    /// Reads the bytes of an expression.
    ///
    /// # Errors
    /// The bytes are not those of an expression.
    pub fn decode<E: From<Malformed>>(r: &mut Reader<'_, E>) -> Result<Self, E> {
        take(r, MAX_DEPTH)
    }
}

fn take<E: From<Malformed>>(r: &mut Reader<'_, E>, depth: u32) -> Result<Expr, E> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(r.error("an expression nested too deeply"));
    };
    let boxed = |r: &mut Reader<'_, E>| take(r, depth).map(Box::new);
    Ok(match r.u8()? {
        0 => Expr::Const(r.varint()?),
        1 => Expr::Slot(r.varint32()?),
        2 => Expr::Iter(r.varint32()?),
        3 => {
            let n = r.count(r.remaining())?;
            Expr::Add((0..n).map(|_| take(r, depth)).collect::<Result<_, E>>()?)
        }
        4 => Expr::Mul(boxed(r)?, boxed(r)?),
        5 => Expr::Zext(r.u8()?, boxed(r)?),
        6 => Expr::Sext(r.u8()?, boxed(r)?),
        7 => Expr::Udiv(r.u8()?, boxed(r)?, boxed(r)?),
        8 => Expr::Global(r.varint32()?),
        n => return Err(r.error(format!("operator {n} is none of this version"))),
    })
}

/// The low `bits` bits of `v`.
fn low(v: u64, bits: u8) -> u64 {
    if bits >= 64 { v } else { v & ((1 << bits) - 1) }
}

fn sign_extend(v: u64, bits: u8) -> u64 {
    let shift = 64 - u32::from(bits.clamp(1, 64));
    ((v << shift).cast_signed() >> shift).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b(e: Expr) -> Box<Expr> {
        Box::new(e)
    }

    #[test]
    fn expressions_read_back_and_wrap_at_their_widths() {
        let e = Expr::Add(vec![
            Expr::Const(u64::MAX),
            Expr::Mul(b(Expr::Const(8)), b(Expr::Iter(1))),
            Expr::Sext(8, b(Expr::Slot(0))),
            Expr::Zext(4, b(Expr::Slot(0))),
            Expr::Udiv(64, b(Expr::Const(9)), b(Expr::Slot(1))),
        ]);
        let mut bytes = Vec::new();
        e.encode(&mut bytes);
        let mut r = Reader::<Malformed>::new("test", &bytes);
        assert_eq!(Expr::decode(&mut r).unwrap(), e);
        assert_eq!(e.eval(&[0xff, 2], &[0, 3]), 24 - 1 - 1 + 15 + 4);
        assert_eq!(e.eval(&[0xff, 0], &[0, 3]), 24 - 1 - 1 + 15);
        assert!(e.is_within(2, 2, 0) && !e.is_within(1, 2, 0) && !e.is_within(2, 1, 0));
        let mut global = Expr::Sext(32, b(Expr::Global(1)));
        assert!(global.is_within(0, 0, 2) && !global.is_within(0, 0, 1));
        global.set_globals(&[0, 0xffff_ffff]);
        assert_eq!(global.eval(&[], &[]), u64::MAX);
    }

    #[test]
    fn narrow_arithmetic_wraps_in_its_own_width() {
        let eval = |e: &Expr| e.eval(&[0xffff_ffff], &[2]);
        let sum = Expr::Add(vec![Expr::Slot(0), Expr::Iter(0)]);
        assert_eq!(eval(&Expr::Zext(32, b(sum.clone()))), 1);
        assert_eq!(eval(&Expr::Sext(32, b(Expr::Slot(0)))), u64::MAX);
        assert_eq!(eval(&sum), 0x1_0000_0001);
        let div = |d| Expr::Udiv(8, b(Expr::Slot(0)), b(Expr::Const(d)));
        assert_eq!((eval(&div(16)), eval(&div(256))), (15, 0));
    }

    #[test]
    fn an_expression_that_nests_without_end_is_refused() {
        let bytes = [5; 100_000];
        assert!(Expr::decode(&mut Reader::<Malformed>::new("test", &bytes)).is_err());
    }
}
