//! What is in a profile, from a recording or on-line.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

/// Caller, line, callee and kind of a call site.
pub(crate) type Place = (String, u64, String, String);

/// The number that `value` finds at each call site of the recorded functions; call sites at one
/// place are added up.
pub(crate) fn sites<T: Default + std::ops::AddAssign>(
    profile: &Value,
    value: impl Fn(&Value) -> T,
) -> BTreeMap<Place, T> {
    let text = |site: &Value, key: &str| site[key].as_str().unwrap_or_default().to_owned();
    let sites = profile["sites"].as_array().into_iter().flatten();
    sites
        .filter(|site| {
            text(site, "file").contains("programs/cilk") && text(site, "callee") != "main"
        })
        .map(|site| {
            let key = (
                text(site, "caller"),
                site["line"].as_u64().unwrap_or(0),
                text(site, "callee"),
                text(site, "kind"),
            );
            (key, value(site))
        })
        .fold(BTreeMap::new(), |mut all, (key, one)| {
            *all.entry(key).or_default() += one;
            all
        })
}

/// Every number of a call site: count, work and span in the three measures, on work and on span.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Numbers(pub(crate) BTreeMap<String, u64>);

impl std::ops::AddAssign for Numbers {
    fn add_assign(&mut self, other: Self) {
        for (path, number) in other.0 {
            *self.0.entry(path).or_default() += number;
        }
    }
}

pub(crate) fn numbers(site: &Value) -> Numbers {
    let mut all = BTreeMap::new();
    for profile in ["on_work", "on_span"] {
        for measure in ["top_call_site", "top_caller", "local"] {
            for number in ["count", "work", "span"] {
                let path = format!("/{profile}/{measure}/{number}");
                let number = site.pointer(&path).and_then(Value::as_u64);
                all.insert(path, number.unwrap_or(u64::MAX));
            }
        }
    }
    Numbers(all)
}

pub(crate) fn site<'p>(
    profile: &'p Value,
    caller: &str,
    callee: &str,
    kind: &str,
) -> Result<&'p Value> {
    let sites = profile["sites"].as_array().context("sites")?;
    let found =
        sites.iter().find(|s| s["caller"] == caller && s["callee"] == callee && s["kind"] == kind);
    found.with_context(|| format!("{kind} of {callee} from {caller} in {profile:#}"))
}

pub(crate) fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
}
