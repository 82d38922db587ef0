//! On-line work/span profiles: JSON without checksums (runtime/online/FORMAT.md).

use serde_json::{Value, json};
use workspan::file::{Document, VERSION};

/// A profile with a call site of each kind.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let sum = |count: u64, work, span| json!({"count": count, "work": work, "span": span});
    let measure = |work: u64, span: u64| json!({"top_call_site": sum(1, work, span), "top_caller": sum(0, 0, 0), "local": sum(8, 90, 60)});
    let site = |callee: &str, kind: &str, line: u32| -> Value {
        json!({"caller": "main", "callee": callee, "file": "/src/prog.c", "line": line, "kind": kind, "count": 8,
               "on_work": measure(900, 90), "on_span": measure(90, 60)})
    };
    let sites = [site("_Z4leafi", "call", 9), site("half", "spawn", 11)];
    let profile = json!({"format": "contech-workspan", "version": VERSION, "metric": "ops", "work": 1000, "span": 100, "parallelism": 10.0,
           "complete": true, "depth": 2, "elements": 0, "notes": ["seen"], "sites": sites});
    vec![profile.to_string().into_bytes()]
}

/// Reads a profile.
pub(crate) fn read(bytes: &[u8]) -> bool {
    Document::read(bytes).is_ok()
}
