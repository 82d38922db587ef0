//! Graphs of other versions.

use taskgraph::{ErrorKind, TaskGraph, VERSION};

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
        let error = TaskGraph::from_bytes(bytes).unwrap_err();
        let (old, advice) = match error.kind() {
            ErrorKind::OlderVersion { found, supported: VERSION } if *found == version => {
                (true, "convert the trace again with contech-middle")
            }
            ErrorKind::NewerVersion { found, supported: VERSION } if *found == version => {
                (false, "use the release that wrote the file")
            }
            _ => panic!("{error}"),
        };
        assert_eq!(old, version < VERSION, "{error}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("format version {version}, but")), "{text}");
        assert!(text.contains(advice), "{text}");
    }
}
