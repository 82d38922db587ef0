//! Damaged, cut, foreign and empty files, and those of other versions, give errors that say what to
//! do, and never a panic.

use taskgraph::builder::GraphBuilder;
use taskgraph::{AllocKind, ErrorKind, MemOp, OpKind, Result, SyncOp, TaskGraph, VERSION};

fn small() -> Vec<u8> {
    let mut b = GraphBuilder::new();
    let body = b.block("loop", "a.c", 7, &[MemOp::load(8), MemOp::store(4)]);
    let copy = b.block("main", "a.c", 9, &[MemOp::new(OpKind::Copy, 0, 0)]);
    let main = b.context("main");
    b.work(main, 0, 10, |w| {
        w.alloc(0x500, 64, AllocKind::Calloc);
        (0..30).for_each(|i| w.block(body, &[0x500 + 8 * i, 0x900]));
        w.block(copy, &[0x500, 0x600, 24]);
        w.free(0x500);
    });
    let child = b.create(main);
    let unlock = b.sync(main, 0xbeef, SyncOp::MutexUnlock);
    b.work(child, 12, 20, |w| w.block(body, &[1 << 45, 1 << 20]));
    let lock = b.sync(child, 0xbeef, SyncOp::MutexLock);
    b.edge(unlock, lock);
    b.barrier(&[main, child], 0xbaa);
    b.join(main, child);
    b.bytes().unwrap()
}

/// Reads everything that a reader can see.
fn read(bytes: &[u8]) -> Result<String> {
    let graph = TaskGraph::from_bytes(bytes)?;
    let mut text = String::new();
    for task in graph.tasks() {
        let task = task?;
        task.for_each_action(|action| text.push_str(&format!("{action:?}\n")))?;
        text.push_str(&format!("{} {}..{} ", task.op(), task.start_ns(), task.end_ns()));
        text.push_str(&format!(
            "{} {:?} {:?}\n",
            task.id(),
            task.predecessors()?,
            task.successors()?
        ));
    }
    text.push_str(&format!("{:?} {:?} {:?}", graph.info(), graph.meta(), graph.summary()));
    graph.contexts().for_each(|c| text.push_str(&format!("{c:?}")));
    Ok(text)
}

#[test]
fn every_flipped_bit_is_found() {
    let mut bytes = small();
    let whole = read(&bytes).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let read = read(&bytes);
            let verified = TaskGraph::from_bytes(&bytes[..]).and_then(|g| g.verify());
            assert!(verified.is_err(), "byte {at} bit {bit} is not found by verify");
            if let Ok(text) = read {
                assert_eq!(text, whole, "byte {at} bit {bit} changes what is read");
            }
            bytes[at] ^= 1 << bit;
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_that_says_so() {
    let bytes = small();
    for length in 1..bytes.len() {
        let error = TaskGraph::from_bytes(&bytes[..length]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{length}: {error}");
        assert!(error.to_string().contains("run contech-middle again"), "{error}");
    }
}

#[test]
fn other_files_are_told_apart() {
    let error = |bytes: &[u8]| TaskGraph::from_bytes(bytes.to_vec()).unwrap_err();
    assert!(matches!(error(b"").kind(), ErrorKind::Empty));
    let trace = error(b"CONTECHT and so on");
    assert!(matches!(trace.kind(), ErrorKind::IsATrace), "{trace}");
    assert!(trace.to_string().contains("contech-middle"), "{trace}");
    let elf = error(b"\x7fELF\x02\x01\x01\0 and so on");
    assert!(elf.to_string().contains("\\x7fELF"), "{elf}");
    assert!(matches!(error(b"C").kind(), ErrorKind::Truncated { .. }));
}

#[test]
fn the_version_is_looked_at_before_what_it_says_how_to_read() {
    let whole = small();
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
