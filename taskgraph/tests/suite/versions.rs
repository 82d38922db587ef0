//! Graphs of older versions.

use taskgraph::{ErrorKind, TaskGraph, VERSION};

/// A graph of version 3, as hexadecimal text: two threads, 4,000 repetitions of a loop over arrays.
const V3: &str = include_str!("data/v3.hex");

#[test]
fn a_graph_of_an_older_version_is_refused_with_what_to_do() {
    let digits: Vec<u8> = V3.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = digits.chunks(2).map(pair).collect();
    let error = TaskGraph::from_bytes(bytes).unwrap_err();
    let old = matches!(error.kind(), ErrorKind::OlderVersion { found: 3, supported: VERSION });
    assert!(old, "{error}");
    let advice = "convert the trace again with contech-middle";
    assert!(error.to_string().contains(advice), "{error}");
}

#[test]
fn the_version_is_looked_at_before_what_it_says_how_to_read() {
    let mut builder = taskgraph::builder::GraphBuilder::new();
    let main = builder.context("main");
    builder.work(main, 0, 1, |_| {});
    let whole = builder.bytes().unwrap();
    for version in [1, VERSION - 1, VERSION + 1, 200] {
        let mut bytes = whole.clone();
        // The checksum of a format that is to come, or was, may stand elsewhere.
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let error = TaskGraph::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains(&format!("format version {version}, but")), "{error}");
    }
}
