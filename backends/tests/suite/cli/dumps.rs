//! What is dumped of a graph.

use crate::folder::Folder;

#[test]
fn accesses_are_dumped_in_program_order() {
    let folder = Folder::new();
    assert_eq!(
        folder.ok("dump two.tg --accesses 0:0").lines().take(2).collect::<Vec<_>>(),
        ["W 0x1000 8", "W 0x1008 8"]
    );
    let child = folder.ok("dump two.tg --accesses 1:*");
    assert_eq!(child.lines().count(), 2 * (5 + 20 + 10 + 20));
    assert!(child.starts_with("R 0x1000 8\nW 0x9000 8\nR 0x1008 8\n"), "{child}");
    let json = folder.json("dump two.tg --accesses 0:0 --json");
    assert_eq!(json["accesses"][0], serde_json::json!({"write": true, "address": 4096, "size": 8}));
    assert_eq!(json["accesses"].as_array().unwrap().len(), 10);
    assert_eq!(folder.ok("dump two.tg --accesses 0:1"), "", "a Create task has no accesses");
}

#[test]
fn synchronisations_are_dumped_in_program_order() {
    let folder = Folder::new();
    assert_eq!(
        folder.ok("dump two.tg --synchronisations 1:*"),
        "1:1 mutex_lock 0xfeed\n1:3 mutex_unlock 0xfeed\n"
    );
    assert_eq!(folder.ok("dump two.tg --synchronisations 1:0"), "");
}

#[test]
fn tasks_edges_and_blocks_are_dumped() {
    let folder = Folder::new();
    let tasks = folder.ok("dump two.tg --tasks");
    assert_eq!(tasks.lines().count(), 15);
    assert_eq!(tasks.lines().next(), Some("0:0 0 work none 0x0 0 100000 10 0 10 80 -"));
    assert!(
        tasks.contains("\n1:1 1 sync mutex_lock 0xfeed 150000 300000 0 0 0 0 0:4\n"),
        "{tasks}"
    );
    let edges = folder.ok("dump two.tg --edges");
    assert_eq!(edges, "0:1 1:0\n0:4 1:1\n1:4 0:6\n0:6 1:5\n1:5 0:8\n");
    assert_eq!(
        folder.json("dump two.tg --edges --json")["edges"][0],
        serde_json::json!({"from": "0:1", "to": "1:0"})
    );
    let blocks = folder.ok("dump two.tg --blocks 1:0 --format csv");
    assert_eq!(blocks.lines().nth(1), Some("1,\"work\",\"src/two.c\",20"));
    assert_eq!(folder.ok("dump two.tg --blocks 1:*").lines().count(), 6 + 20 + 11 + 20);
}
