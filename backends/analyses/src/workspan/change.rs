//! What-if: a call site whose code takes another time, or whose own code runs in parallel.

use std::str::FromStr;

use taskgraph::{FunctionId, StaticInfo};

use super::tree::SiteKey;

/// Which call sites: those of a function (by name), or those on a line (`file.c:12` or `:12`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// All call sites that invoke this function.
    Function(String),
    /// The call sites on this line of a file whose name has this end.
    Line(String, u32),
}

impl Selector {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("name a function, or FILE:LINE".to_owned());
        }
        // A C++ name may contain colons, so a line is a number after the last colon.
        match text.rsplit_once(':') {
            Some((file, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => {
                let line = line.parse().map_err(|_| format!("{line}: no line number"))?;
                Ok(Self::Line(file.to_owned(), line))
            }
            _ => Ok(Self::Function(text.to_owned())),
        }
    }

    /// Whether the program has such a function, or code on such a line.
    pub(crate) fn exists(&self, info: &StaticInfo) -> bool {
        match self {
            Self::Function(name) => {
                info.functions.iter().any(|function| named(&function.name, name))
            }
            Self::Line(file, line) => info.blocks.iter().any(|block| {
                let called = info.call_line_of(block);
                (info.line_of(block) == *line || called == Some(*line))
                    && info.file_of(block.function).ends_with(file.as_str())
            }),
        }
    }

    /// Whether it selects the call site `key`, which invokes `callee`.
    pub(crate) fn matches(
        &self,
        info: &StaticInfo,
        key: SiteKey,
        callee: Option<FunctionId>,
    ) -> bool {
        let block = match key {
            SiteKey::Call(block) | SiteKey::Spawn(block) => info.block(block),
            _ => None,
        };
        match self {
            Self::Function(name) => callee
                .and_then(|id| info.function(id))
                .is_some_and(|function| named(&function.name, name)),
            Self::Line(file, line) => block.is_some_and(|block| {
                let called = info.call_line_of(block);
                called.unwrap_or_else(|| info.line_of(block)) == *line
                    && info.file_of(block.function).ends_with(file.as_str())
            }),
        }
    }
}

/// Whether a function has this name, with its parameters or without.
fn named(full: &str, name: &str) -> bool {
    full == name || full.split('(').next() == Some(name)
}

/// The change at the call site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Everything below the call site takes this many times as long.
    Scale(f64),
    /// The function's own code runs in parallel, in pieces of this size.
    Parallel(u64),
}

/// A change of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The call sites that change.
    pub selector: Selector,
    /// The change.
    pub effect: Effect,
    /// The change as it was typed.
    pub text: String,
}

impl Change {
    /// The change in words.
    pub(crate) fn in_words(&self) -> String {
        let place = self.text.rsplit_once('=').map_or(self.text.as_str(), |p| p.0);
        match self.effect {
            Effect::Scale(factor) => format!("everything below {place} takes {factor} of its time"),
            Effect::Parallel(grain) => {
                format!("the own code of {place} runs in parallel with grain {grain}")
            }
        }
    }
}

/// Parses `SITE=FACTOR`.
///
/// # Errors
/// Says what is wrong with the text.
pub fn scale(text: &str) -> Result<Change, String> {
    change(text, "expected SITE=FACTOR, as in partition=0.5", |factor| {
        let factor = f64::from_str(factor).map_err(|e| format!("{factor}: {e}"))?;
        match (0.0..=1e6).contains(&factor) {
            true => Ok(Effect::Scale(factor)),
            false => Err(format!("{factor}: a factor is from 0 to 1000000")),
        }
    })
}

/// Parses `SITE=GRAIN`.
///
/// # Errors
/// Says what is wrong with the text.
pub fn parallel(text: &str) -> Result<Change, String> {
    change(text, "expected SITE=GRAIN, as in process_node=1000", |grain| {
        let grain = u64::from_str(grain).map_err(|e| format!("{grain}: {e}"))?;
        Ok(Effect::Parallel(grain))
    })
}

fn change(
    text: &str,
    expected: &str,
    effect: impl FnOnce(&str) -> Result<Effect, String>,
) -> Result<Change, String> {
    let (site, how) = text.rsplit_once('=').ok_or(expected)?;
    let effect = effect(how)?;
    Ok(Change { selector: Selector::parse(site)?, effect, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_function_or_a_line() {
        let line = Selector::Line("src/a.c".to_owned(), 12);
        assert_eq!(scale("src/a.c:12=0.5").map(|c| c.selector), Ok(line));
        let function = Selector::Function("ns::f<int>".to_owned());
        assert_eq!(parallel("ns::f<int>=100").map(|c| c.selector), Ok(function));
        scale("f").expect_err("no factor");
        scale("f=-1").expect_err("negative");
        scale("=1").expect_err("no site");
        parallel("f=x").expect_err("no number");
    }
}
