//! The library in real processes: C programs that record as the compiler pass makes them record.

mod harness;

use std::fs;

use contech_tests::process::Finished;
use harness::Program;

/// What a run printed, and how it ended.
#[track_caller]
fn assert_ended(run: &Finished, out: &str, outcome: &str) {
    assert_eq!((&*run.out(), &*run.outcome()), (out, outcome), "{run}");
}

/// One line, from the runtime, that names all of these.
#[track_caller]
fn assert_one_line(run: &Finished, words: &[&str]) {
    let said = run.err();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("contech: "), "{said}");
    for word in words {
        assert!(said.contains(word), "{word} is not in: {said}");
    }
}

#[test]
fn a_disk_that_fills_up_stops_the_recording_and_the_file_is_visibly_cut() {
    let program = Program::new("blocks.c");
    let run = program.run_by("ulimit -f 600; exec", &["2000000"], &[]);
    assert_ended(&run, "done\n", "exit 7");
    assert_one_line(&run, &["trace.bin", "File too large"]);
    let trace = program.trace("trace.bin");
    assert!(!trace.complete() && trace.damaged());
}

#[test]
fn a_program_whose_trace_cannot_be_opened_or_written_runs_untraced() {
    let program = Program::new("blocks.c");
    fs::create_dir(program.path("folder")).unwrap();
    for trace in ["no/such/folder/trace.bin", "folder", "/dev/full"] {
        let run = program.run(&["10"], &[("CONTECH_TRACE", trace)]);
        assert_ended(&run, "done\n", "exit 7");
        assert_one_line(&run, &[trace]);
    }
}

#[test]
fn a_reader_that_goes_away_stops_the_recording() {
    let run = Program::new("blocks.c").run_by(
        "mkfifo f; (head -c 100000 f >/dev/null) & exec",
        &["2000000"],
        &[("CONTECH_TRACE", "f")],
    );
    assert_ended(&run, "done\n", "exit 7");
    assert_one_line(&run, &["Broken pipe"]);
}

/// Ends the program by a signal while nobody reads its trace; by another one if that is not enough.
fn is_ended_without_reader(reader: &str) {
    let end = "kill -TERM $$; sleep 20; kill -KILL $$";
    let shell = format!("mkfifo f; ({reader} sleep 0.5; {end}) >/dev/null 2>&1 & exec");
    let run = Program::new("blocks.c").run_by(&shell, &["2000000"], &[("CONTECH_TRACE", "f")]);
    assert_eq!(run.outcome(), "signal 15");
}

#[test]
fn a_program_that_waits_for_a_reader_of_its_trace_can_be_ended() {
    is_ended_without_reader("");
}

#[test]
fn a_program_whose_reader_rests_can_be_ended() {
    is_ended_without_reader("exec 3<f;");
}

#[test]
fn a_trace_goes_to_an_open_descriptor() {
    let program = Program::new("blocks.c");
    let run = program.run_by("exec 5>five; exec", &["1000"], &[("CONTECH_TRACE", "fd:5")]);
    assert_ended(&run, "done\n", "exit 7");
    assert_eq!(run.err(), "");
    let trace = program.trace("five");
    assert_eq!((trace.complete(), trace.blocks()), (true, 1000));
}

#[test]
fn null_and_off_write_nothing() {
    let program = Program::new("blocks.c");
    for variable in [("CONTECH_TRACE", "null"), ("CONTECH_OFF", "1")] {
        let run = program.run(&["2000000"], &[variable]);
        assert_ended(&run, "done\n", "exit 7");
        assert_eq!(run.err(), "");
        assert!(!program.path("trace.bin").exists());
    }
}

#[test]
fn statistics_say_how_much_was_thrown_away_and_decode_nothing() {
    let program = Program::new("blocks.c");
    program.run(&["2000000"], &[("CONTECH_TRACE", "null"), ("CONTECH_STATS", "s.json")]);
    let text = program.read("s.json");
    // 2,000,000 ids of four bytes, and the start and the end of a context.
    let bytes = text.strip_prefix("{\"bytes\":").unwrap();
    let (bytes, rest) = bytes.split_once(',').unwrap();
    assert!((8_000_000..8_000_200).contains(&bytes.parse::<u64>().unwrap()), "{text}");
    assert!(rest.starts_with("\"blocks\":null,\"accesses\":null,"), "{text}");
    assert!(text.contains("\"complete\":true"), "{text}");
}

#[test]
fn a_flush_preserves_every_register() {
    assert_ended(&Program::new("registers.c").run(&[], &[]), "same\n", "exit 0");
}

#[test]
fn the_program_sees_its_own_signal_handlers() {
    let program = Program::new("handlers.c");
    let native = program.run(&[], &[("CONTECH_OFF", "1")]);
    let traced = program.run(&[], &[]);
    assert!(traced.out().contains("for once 1"), "{traced}");
    assert_ended(&traced, &native.out(), &native.outcome());
    assert_eq!(program.trace("trace.bin").blocks(), 3);
}

#[test]
fn a_program_that_takes_the_descriptor_finds_nothing_in_its_files() {
    let program = Program::new("closes.c");
    let run = program.run(&[], &[]);
    assert_ended(&run, "", "exit 3");
    assert_one_line(&run, &["descriptor"]);
    for i in 0..4 {
        assert_eq!(program.read(&format!("own-{i}")), "");
    }
}

#[test]
fn colliding_modules_are_refused() {
    let program = Program::new("collides.c");
    let run = program.run(&[], &[]);
    assert_ended(&run, "done\n", "exit 7");
    assert_one_line(&run, &["chance"]);
    let trace = program.trace("trace.bin");
    assert_eq!((trace.complete(), trace.blocks()), (false, 1));
}

#[test]
fn a_program_that_chance_has_put_where_ids_are_reserved_starts_once_more() {
    let program = Program::new("again.c");
    let run = program.run(&[], &[]);
    assert_ended(&run, "/program 1 unseen\n", "exit 7");
    assert_eq!(run.err(), "");
    let trace = program.trace("trace.bin");
    assert_eq!((trace.complete(), trace.blocks()), (true, 1));
    // The second start is where the first was, so a third would be, too.
    let run = program.run(&["x"], &[]);
    assert_ended(&run, "/program 2 unseen\n", "exit 7");
    assert_one_line(&run, &["chance"]);
}

#[test]
fn locks_of_a_library_that_is_not_instrumented_are_its_own_and_tickets_and_times_ascend() {
    let program = Program::with_library("locks.c", "-DPLAIN");
    assert_ended(&program.run(&[], &[]), "", "exit 0");
    let trace = program.trace("trace.bin");
    let syncs = trace.syncs();
    let ops: Vec<&str> = syncs.iter().map(|sync| sync.0).collect();
    assert_eq!(ops, ["MutexLock", "MutexUnlock"].repeat(3));
    let mut last = (0, 0);
    for (op, ticket, before) in syncs {
        let before = before.unwrap_or(last.1);
        // A release has the ticket of its acquire.
        let follows = if op == "MutexUnlock" { ticket == last.0 } else { ticket > last.0 };
        assert!(follows && before >= last.1, "{op} {ticket} {before} after {last:?}");
        last = (ticket, before);
    }
    assert_eq!(last.0, 3);
}
