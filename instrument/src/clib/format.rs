//! Formats of printf: which of the arguments are texts, and how much of each is read.

use super::{Around, Built, Number};
use crate::ir;
use contech_program::OpKind;
use inkwell::values::IntValue;

/// Most bytes of a text without a precision.
const ALL: u64 = u64::MAX;

/// What a conversion does with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    /// The argument is a value.
    Value,
    /// It is a text, of which at most so many bytes are read.
    Text(u64),
    /// It is a text, of which at most as many bytes are read as the argument before it says.
    Bounded,
}

/// The conversion of each argument behind a format; `None` if it numbers its arguments, or has wide
/// texts or conversions that are not known.
fn conversions(format: &[u8]) -> Option<Vec<Conversion>> {
    let mut list = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(c) = rest.next() {
        if c != b'%' {
            continue;
        }
        while rest.next_if(|c| b"#0- +'I".contains(c)).is_some() {}
        if rest.next_if_eq(&b'*').is_some() {
            list.push(Conversion::Value);
        }
        while rest.next_if(u8::is_ascii_digit).is_some() {}
        let mut precision = Some(ALL);
        if rest.next_if_eq(&b'.').is_some() {
            precision = Some(0);
            if rest.next_if_eq(&b'*').is_some() {
                list.push(Conversion::Value);
                precision = None;
            }
            while let (Some(p), Some(digit)) = (precision, rest.next_if(u8::is_ascii_digit)) {
                precision = Some(p.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
            }
        }
        let mut long = false;
        while let Some(c) = rest.next_if(|c| b"hljztLq".contains(c)) {
            long |= c != b'h';
        }
        list.push(match rest.next()? {
            b'%' => continue,
            b's' if !long => precision.map_or(Conversion::Bounded, Conversion::Text),
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'e' | b'E' | b'f' | b'F' | b'g'
            | b'G' | b'a' | b'A' | b'p' => Conversion::Value,
            b'm' => continue,
            _ => return None,
        });
    }
    Some(list)
}

impl<'m> Around<'_, 'm> {
    /// Adds what a call prints by the format that its argument `at` is.
    pub(super) fn prints(&mut self, at: u32) -> Built<()> {
        self.prints_text(at, ALL)?;
        let text = self.argument(at).and_then(ir::constant_text);
        let Some(list) = text.and_then(|text| conversions(&text)) else {
            self.unrecorded = Some("texts printed by a format that is not known".into());
            return Ok(());
        };
        for (i, conversion) in (at + 1..).zip(list) {
            match conversion {
                Conversion::Text(limit) => self.prints_text(i, limit)?,
                // A negative precision is none, and a very large number without its sign.
                Conversion::Bounded => {
                    let limit = self.number(&Number::Arg(i - 1))?;
                    self.text_within(i, limit)?;
                }
                Conversion::Value => {}
            }
        }
        Ok(())
    }

    fn prints_text(&mut self, i: u32, limit: u64) -> Built<()> {
        let word = self.module.get_context().i64_type();
        self.text_within(i, word.const_int(limit, false))
    }

    fn text_within(&mut self, i: u32, limit: IntValue<'m>) -> Built<()> {
        let text = self.argument(i).filter(|v| v.is_pointer_value());
        if text.is_none_or(ir::is_constant_data) {
            return Ok(());
        }
        let at = Number::Arg(i);
        let bytes = self.text(&at, limit)?;
        self.sized(OpKind::Scan, &[at], bytes)
    }
}
