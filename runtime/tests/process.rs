//! The library in real processes: C programs that record as the compiler pass makes them record.

mod harness;

use std::os::unix::process::ExitStatusExt;

use contech_trace::event::{Event, SyncOp};
use harness::{Program, Run};

/// One line, from the runtime, that names all of these.
fn assert_one_line(run: &Run, words: &[&str]) {
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("contech: "), "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{word} is not in: {}", run.stderr);
    }
}

#[test]
fn what_the_program_recorded_is_in_the_file_and_the_program_is_as_ever() {
    let run = Program::new("blocks.c").run(&["1000"], &[]);
    assert_eq!((run.stdout.as_str(), run.code()), ("done\n", Some(7)));
    assert_eq!(run.stderr, "");
    let trace = run.trace("trace.bin");
    assert!(trace.complete());
    assert_eq!(trace.blocks, 1000);
}

#[test]
fn a_disk_that_fills_up_stops_the_recording_and_the_file_is_visibly_cut() {
    let program = Program::new("blocks.c");
    let run = program.run_by("ulimit -f 600; exec", &["2000000"], &[]);
    assert_eq!((run.stdout.as_str(), run.code()), ("done\n", Some(7)));
    assert_one_line(&run, &["trace.bin", "File too large"]);
    let trace = run.trace("trace.bin");
    assert!(!trace.complete() && trace.damaged);
}

#[test]
fn a_reader_that_goes_away_stops_the_recording() {
    let program = Program::new("blocks.c");
    let run = program.run_by(
        "mkfifo f; (head -c 100000 f >/dev/null) & exec",
        &["2000000"],
        &[("CONTECH_TRACE", "f")],
    );
    assert_eq!((run.stdout.as_str(), run.code()), ("done\n", Some(7)));
    assert_one_line(&run, &["Broken pipe"]);
}

/// Ends the program by a signal while nobody reads its trace; by another one if that is not enough.
fn ended_without_reader(reader: &str) -> Option<i32> {
    let end = "kill -TERM $$; sleep 20; kill -KILL $$";
    let shell = format!("mkfifo f; ({reader} sleep 0.5; {end}) >/dev/null 2>&1 & exec");
    let run = Program::new("blocks.c").run_by(&shell, &["2000000"], &[("CONTECH_TRACE", "f")]);
    run.status.signal()
}

#[test]
fn a_program_that_waits_for_a_reader_of_its_trace_can_be_ended() {
    assert_eq!(ended_without_reader(""), Some(15));
}

#[test]
fn a_program_whose_reader_rests_can_be_ended() {
    assert_eq!(ended_without_reader("exec 3<f;"), Some(15));
}

#[test]
fn a_trace_goes_to_an_open_descriptor() {
    let program = Program::new("blocks.c");
    let run = program.run_by("exec 5>five; exec", &["1000"], &[("CONTECH_TRACE", "fd:5")]);
    assert_eq!(run.code(), Some(7));
    assert!(run.trace("five").complete());
}

#[test]
fn null_and_off_write_nothing() {
    for variable in [("CONTECH_TRACE", "null"), ("CONTECH_OFF", "1")] {
        let run = Program::new("blocks.c").run(&["2000000"], &[variable]);
        assert_eq!((run.stdout.as_str(), run.code()), ("done\n", Some(7)));
        assert_eq!(run.stderr, "");
        assert!(!run.exists("trace.bin"));
    }
}

#[test]
fn statistics_say_how_much_was_thrown_away_and_decode_nothing() {
    let run = Program::new("blocks.c")
        .run(&["2000000"], &[("CONTECH_TRACE", "null"), ("CONTECH_STATS", "s.json")]);
    let text = run.read("s.json");
    // 2,000,000 ids of four bytes, and the start and the end of a context.
    let bytes = text.strip_prefix("{\"bytes\":").unwrap();
    let (bytes, rest) = bytes.split_once(',').unwrap();
    assert!((8_000_000..8_000_200).contains(&bytes.parse::<u64>().unwrap()), "{text}");
    assert!(rest.starts_with("\"blocks\":null,\"accesses\":null,"), "{text}");
    assert!(text.contains("\"complete\":true"), "{text}");
}

#[test]
fn a_bad_option_is_one_line_and_the_default() {
    let run = Program::new("blocks.c").run(&["10"], &[("CONTECH_BUFFER", "lots")]);
    assert_one_line(&run, &["CONTECH_BUFFER=lots", "1M"]);
    assert!(run.trace("trace.bin").complete());
}

#[test]
fn a_flush_preserves_every_register() {
    let run = Program::new("registers.c").run(&[], &[]);
    assert_eq!((run.stdout.as_str(), run.code()), ("same\n", Some(0)));
}

#[test]
fn the_program_sees_its_own_signal_handlers() {
    let program = Program::new("handlers.c");
    let native = program.run_by("CONTECH_OFF=1 exec", &[], &[]);
    let traced = program.run(&[], &[]);
    assert!(traced.stdout.contains("for once 1"), "{}", traced.stdout);
    assert_eq!(native.stdout, traced.stdout);
    assert_eq!(native.status, traced.status);
    assert_eq!(traced.trace("trace.bin").blocks, 3);
}

#[test]
fn a_program_that_takes_the_descriptor_finds_nothing_in_its_files() {
    let run = Program::new("closes.c").run(&[], &[]);
    assert_eq!(run.code(), Some(3));
    assert_one_line(&run, &["descriptor"]);
    for i in 0..4 {
        assert_eq!(run.read(&format!("own-{i}")), "");
    }
}

#[test]
fn colliding_modules_are_refused() {
    let run = Program::new("collides.c").run(&[], &[]);
    assert_eq!((run.stdout.as_str(), run.code()), ("done\n", Some(7)));
    assert_one_line(&run, &["chance"]);
    let trace = run.trace("trace.bin");
    assert_eq!((trace.complete(), trace.blocks), (false, 1));
}

#[test]
fn a_program_that_chance_has_put_where_ids_are_reserved_starts_once_more() {
    let program = Program::new("again.c");
    let run = program.run(&[], &[]);
    let expected = "/program 1 unseen\n";
    assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.code()), (expected, "", Some(7)));
    let trace = run.trace("trace.bin");
    assert_eq!((trace.complete(), trace.blocks), (true, 1));
    // The second start is where the first was, so a third would be, too.
    let run = program.run(&["x"], &[]);
    let expected = "/program 2 unseen\n";
    assert_eq!((run.stdout.as_str(), run.code()), (expected, Some(7)));
    assert_one_line(&run, &["chance"]);
}

#[test]
fn locks_of_a_library_that_is_not_instrumented_are_its_own() {
    let program = Program::with_library("locks.c", "-DPLAIN");
    let run = program.run(&[], &[]);
    assert_eq!((run.stdout.as_str(), run.code()), ("", Some(0)));
    let ops: Vec<SyncOp> = run.trace("trace.bin").syncs();
    assert_eq!(ops, [SyncOp::MutexLock, SyncOp::MutexUnlock].repeat(3));
}

#[test]
fn a_release_has_the_ticket_of_its_acquire_and_acquires_and_times_ascend() {
    let program = Program::with_library("locks.c", "-DPLAIN");
    let trace = program.run(&[], &[]).trace("trace.bin");
    let mut last = (0, 0);
    for event in &trace.events {
        let (op, ticket, before) = match *event {
            Event::Sync { op, ticket, before, .. } => (op, ticket, before),
            Event::Untimed { op, ticket, .. } => (op, ticket, last.1),
            _ => continue,
        };
        let follows = match op {
            SyncOp::MutexUnlock => ticket == last.0,
            _ => ticket > last.0,
        };
        assert!(follows && before >= last.1, "{event:?} after {last:?}");
        last = (ticket, before);
    }
    assert_eq!(last.0, 3);
}
