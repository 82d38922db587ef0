//! What `export` writes of a graph whose numbers are known.
//!
//! In [`two`](crate::samples::two) the parent runs `main` for 100 us and `work` for the rest, but
//! for the last block of its task from 600 to 700, which is one of 31 instructions. The child runs
//! `work` only. No block begins a function, so that `work` is called from code that was not
//! recorded.

use crate::folder::Folder;

#[test]
fn stacks_have_the_time_of_their_functions_and_the_causes_of_their_waits() {
    let folder = Folder::new();
    assert_eq!(folder.ok("export two.tg --folded -"), "two;main 103225\ntwo;main;work 946775\n");
    assert_eq!(
        folder.ok("export two.tg --folded - --weight wait"),
        "two;main;[join] 100000\ntwo;main;work;[barrier] 200000\ntwo;main;work;[lock] 150000\n"
    );
    assert_eq!(
        folder.ok("export two.tg --folded - --weight misses"),
        "two;main 2\ntwo;main;work 4\n"
    );
}

#[test]
fn a_profile_has_own_numbers_by_line_and_those_of_calls() {
    let text = Folder::new().ok("export two.tg --callgrind -");
    let (_, text) = text.split_once("\nevents: ").expect("events");
    // Time, waiting, instructions, reads, writes, and misses of two caches.
    let expected = "Time Wait Instr Reads Writes Miss32K Miss8M
summary: 1050000 450000 309 95 105 6 6

fl=(1) src/two.c
fn=(1) main
5 100000 0 20 0 10 2 2
60 3225 100000 1 0 0 0 0
cfi=(1)
cfn=(2) work
calls=2 20
0 946775 350000 288 95 95 4 4

fl=(1)
fn=(2)
20 937198 0 285 95 95 4 4
31 3125 150000 1 0 0 0 0
44 6452 200000 2 0 0 0 0

totals: 1050000 450000 309 95 105 6 6
";
    assert_eq!(text, expected);
}
