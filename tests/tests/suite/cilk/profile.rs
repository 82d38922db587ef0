//! What is in a profile, from a recording or on-line.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

/// Caller, line, callee and kind of a call site.
pub(crate) type Place = (String, u64, String, String);

/// The numbers that `value` finds at each call site of the recorded functions; those of call sites
/// at one place are added up.
pub(crate) fn sites(
    profile: &Value,
    value: impl Fn(&Value) -> Vec<u64>,
) -> BTreeMap<Place, Vec<u64>> {
    let mut all: BTreeMap<Place, Vec<u64>> = BTreeMap::new();
    for site in profile["sites"].as_array().into_iter().flatten() {
        let text = |key: &str| site[key].as_str().unwrap_or_default().to_owned();
        if text("file").contains("programs/cilk") && text("callee") != "main" {
            let line = site["line"].as_u64().unwrap_or(0);
            let place = (text("caller"), line, text("callee"), text("kind"));
            let numbers = value(site);
            let sums = all.entry(place).or_insert_with(|| vec![0; numbers.len()]);
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
    }
    all
}

/// Every number of a call site: count, work and span in the three measures, on work and on span.
pub(crate) fn numbers(site: &Value) -> Vec<u64> {
    let mut all = Vec::new();
    for profile in ["on_work", "on_span"] {
        for measure in ["top_call_site", "top_caller", "local"] {
            let numbers = ["count", "work", "span"].map(|key| &site[profile][measure][key]);
            all.extend(numbers.map(|number| number.as_u64().unwrap_or(u64::MAX)));
        }
    }
    all
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
