//! Graphs of older versions.

use taskgraph::{ErrorKind, TaskGraph};

/// A graph of version 3, as hexadecimal text: two threads, 4,000 repetitions of a loop over arrays.
const V3: &str = include_str!("data/v3.hex");

#[test]
fn a_graph_of_an_older_version_is_refused_with_what_to_do() {
    let digits: Vec<u8> = V3.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = digits.chunks(2).map(pair).collect();
    let error = TaskGraph::from_bytes(bytes).unwrap_err();
    let old = matches!(
        error.kind(),
        ErrorKind::OlderVersion {
            found: 3,
            supported: 7
        }
    );
    assert!(old, "{error}");
    let advice = "convert the trace again with contech-middle";
    assert!(error.to_string().contains(advice), "{error}");
}
