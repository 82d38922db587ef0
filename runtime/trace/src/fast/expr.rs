//! Address expressions: ScalarEvolution's, reduced to what a decoder can evaluate exactly.

use crate::wire::{Wire, put_varint};
use crate::{Error, Result};

/// An expression over leaves, iteration numbers and globals; all arithmetic wraps in 64 bits, and
/// [`Expr::Zext`] / [`Expr::Sext`] first reduce to their width, so any width is exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Const(u64),
    /// A leaf slot of the function: the value as recorded, zero-extended from its width.
    Slot(u32),
    /// Iteration number of a loop of the function: 0 in the first iteration.
    Iter(u32),
    /// Run-time address of a global of the module.
    Global(u32),
    /// Sum.
    Add(Vec<Expr>),
    /// Product.
    Mul(Box<Expr>, Box<Expr>),
    /// The low `bits` bits, zero-extended (also SCEV's truncate).
    Zext(u8, Box<Expr>),
    /// The low `bits` bits, sign-extended.
    Sext(u8, Box<Expr>),
    /// Unsigned quotient of the low `bits` bits; division by zero gives 0.
    Udiv(u8, Box<Expr>, Box<Expr>),
}

/// Most nested an encoded expression may be; deeper claims are damage.
const MAX_DEPTH: u32 = 64;

/// What an expression is evaluated over.
#[derive(Debug, Clone, Copy)]
pub struct Environment<'a> {
    /// Leaf slots.
    pub slots: &'a [u64],
    /// Iteration numbers of loops.
    pub iterations: &'a [u64],
    /// Addresses of the module's globals.
    pub globals: &'a [u64],
}

impl Expr {
    /// The value; slots, loops and globals out of range count as 0 (tables are checked when read).
    #[must_use]
    pub fn eval(&self, env: &Environment<'_>) -> u64 {
        let at = |s: &[u64], i: u32| s.get(i as usize).copied().unwrap_or(0);
        match self {
            Expr::Const(c) => *c,
            Expr::Slot(i) => at(env.slots, *i),
            Expr::Iter(i) => at(env.iterations, *i),
            Expr::Global(i) => at(env.globals, *i),
            Expr::Add(terms) => terms.iter().fold(0, |s, t| s.wrapping_add(t.eval(env))),
            Expr::Mul(a, b) => a.eval(env).wrapping_mul(b.eval(env)),
            Expr::Zext(bits, a) => low(a.eval(env), *bits),
            Expr::Sext(bits, a) => sign_extend(a.eval(env), *bits),
            Expr::Udiv(bits, a, b) => low(a.eval(env), *bits)
                .checked_div(low(b.eval(env), *bits))
                .unwrap_or(0),
        }
    }

    /// The same with the addresses of globals put in as constants.
    #[must_use]
    pub fn with_globals(&self, globals: &[u64]) -> Expr {
        let boxed = |e: &Expr| Box::new(e.with_globals(globals));
        match self {
            Expr::Global(i) => Expr::Const(globals.get(*i as usize).copied().unwrap_or(0)),
            Expr::Const(_) | Expr::Slot(_) | Expr::Iter(_) => self.clone(),
            Expr::Add(terms) => Expr::Add(terms.iter().map(|t| t.with_globals(globals)).collect()),
            Expr::Mul(a, b) => Expr::Mul(boxed(a), boxed(b)),
            Expr::Zext(bits, a) => Expr::Zext(*bits, boxed(a)),
            Expr::Sext(bits, a) => Expr::Sext(*bits, boxed(a)),
            Expr::Udiv(bits, a, b) => Expr::Udiv(*bits, boxed(a), boxed(b)),
        }
    }

    /// Calls `f` with every slot (`'s'`), loop (`'l'`) and global (`'g'`) index used.
    pub fn for_each_source(&self, f: &mut impl FnMut(char, u32)) {
        match self {
            Expr::Const(_) => {}
            Expr::Slot(i) => f('s', *i),
            Expr::Iter(i) => f('l', *i),
            Expr::Global(i) => f('g', *i),
            Expr::Add(terms) => terms.iter().for_each(|t| t.for_each_source(f)),
            Expr::Zext(_, a) | Expr::Sext(_, a) => a.for_each_source(f),
            Expr::Mul(a, b) | Expr::Udiv(_, a, b) => {
                a.for_each_source(f);
                b.for_each_source(f);
            }
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Expr::Const(c) => tagged(out, 0, *c),
            Expr::Slot(i) => tagged(out, 1, u64::from(*i)),
            Expr::Iter(i) => tagged(out, 2, u64::from(*i)),
            Expr::Global(i) => tagged(out, 3, u64::from(*i)),
            Expr::Add(terms) => {
                tagged(out, 4, terms.len() as u64);
                terms.iter().for_each(|t| t.encode(out));
            }
            Expr::Mul(a, b) => {
                out.push(5);
                a.encode(out);
                b.encode(out);
            }
            Expr::Zext(bits, a) => {
                out.extend([6, *bits]);
                a.encode(out);
            }
            Expr::Sext(bits, a) => {
                out.extend([7, *bits]);
                a.encode(out);
            }
            Expr::Udiv(bits, a, b) => {
                out.extend([8, *bits]);
                a.encode(out);
                b.encode(out);
            }
        }
    }

    pub(crate) fn decode(w: &mut Wire<'_>) -> Result<Self> {
        take(w, MAX_DEPTH)
    }
}

fn tagged(out: &mut Vec<u8>, tag: u8, v: u64) {
    out.push(tag);
    put_varint(out, v);
}

fn take(w: &mut Wire<'_>, depth: u32) -> Result<Expr> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(w.invalid("expression", "nested too deeply"));
    };
    let bits = |w: &mut Wire<'_>| -> Result<u8> {
        match w.take(1, "width")?[0] {
            b @ 1..=64 => Ok(b),
            _ => Err(w.invalid("expression", "a width outside 1 to 64 bits")),
        }
    };
    let boxed = |w: &mut Wire<'_>| -> Result<Box<Expr>> { Ok(Box::new(take(w, depth)?)) };
    Ok(match w.take(1, "expression")?[0] {
        0 => Expr::Const(w.varint("constant")?),
        1 => Expr::Slot(w.varint32("slot")?),
        2 => Expr::Iter(w.varint32("loop")?),
        3 => Expr::Global(w.varint32("global")?),
        4 => {
            let n = w.count("term count")?;
            Expr::Add((0..n).map(|_| take(w, depth)).collect::<Result<_>>()?)
        }
        5 => Expr::Mul(boxed(w)?, boxed(w)?),
        6 => Expr::Zext(bits(w)?, boxed(w)?),
        7 => Expr::Sext(bits(w)?, boxed(w)?),
        8 => Expr::Udiv(bits(w)?, boxed(w)?, boxed(w)?),
        n => {
            return Err(Error::Invalid {
                what: "expression",
                offset: 0,
                detail: format!("unknown operator {n}"),
            });
        }
    })
}

/// The low `bits` bits of `v`.
#[must_use]
fn low(v: u64, bits: u8) -> u64 {
    if bits >= 64 { v } else { v & ((1 << bits) - 1) }
}

fn sign_extend(v: u64, bits: u8) -> u64 {
    let shift = 64 - u32::from(bits.clamp(1, 64));
    ((v << shift).cast_signed() >> shift).cast_unsigned()
}
