//! What recording costs where it matters: the machine instructions added to the path that runs when
//! buffers have room, counted in the assembly that clang-22 writes at -O2. A limit may be lowered
//! when the code gets better. A limit that must be raised is a slowdown of every traced program.

use std::collections::HashMap;
use std::process::Command;

use contech_tests::outputs::output;

mod piped;
use piped::piped;

const SOURCE: &str = "
void callee(unsigned long);
long load_in_loop(const long *a, unsigned long n) {
  long s = 0;
#pragma clang loop vectorize(disable) unroll(disable) interleave(disable)
  for (unsigned long i = 0; i < n; i++) s += a[i];
  return s;
}
long two_loads(const long *a, const long *b) { return *a + *b; }
void call_in_loop(unsigned long n) {
#pragma clang loop unroll(disable)
  for (unsigned long i = 0; i < n; i++) callee(i);
}
";

/// The assembly of [`SOURCE`], in a form of the recording, or plain.
fn assembly(form: Option<&str>) -> String {
    let mut clang = Command::new("clang-22");
    clang.args(["-O2", "-S", "-x", "c", "-", "-o", "-"]);
    if let Some(form) = form {
        let plugin = output("libcontech_instrument.so");
        clang.arg(format!("-fpass-plugin={}", plugin.display())).env("CONTECH_PASS_OPTIONS", form);
    }
    let output = piped(&mut clang, SOURCE);
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Number of instructions of one iteration of the function's loop, or of the whole function if it
/// has no loop.
///
/// It follows the code from the entry: `jae`, which only room checks use here, is never taken, and
/// other conditional jumps are taken backwards and not forwards.
fn hot_instructions(assembly: &str, function: &str) -> usize {
    let start = format!("{function}:");
    let mut labels = HashMap::new();
    let mut code: Vec<(&str, &str)> = Vec::new();
    let body = assembly.lines().skip_while(|l| !l.starts_with(&start));
    for line in body.skip(1).take_while(|l| !l.starts_with(".Lfunc_end")) {
        let line = line.split('#').next().unwrap().trim();
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, code.len());
        } else if !line.is_empty() && !line.starts_with('.') {
            code.push(line.split_once(char::is_whitespace).unwrap_or((line, "")));
        }
    }
    let (mut at, mut count) = (0, 0);
    let mut seen = HashMap::new();
    loop {
        let (mnemonic, operands) = code[at];
        if let Some(before) = seen.insert(at, count) {
            return count - before;
        }
        count += 1;
        if mnemonic == "retq" {
            return count;
        }
        let target = labels.get(operands.trim()).copied();
        at = match target {
            Some(to) if mnemonic == "jmp" => to,
            Some(to) if mnemonic.starts_with('j') && mnemonic != "jae" && to <= at => to,
            _ => at + 1,
        };
    }
}

/// Checks the instructions added to each function of [`SOURCE`].
fn check(form: &str, limits: [(&str, usize); 3]) {
    let (plain, recording) = (assembly(None), assembly(Some(form)));
    for (function, limit) in limits {
        let own = hot_instructions(&plain, function);
        let all = hot_instructions(&recording, function);
        let added = all.checked_sub(own).expect("recording removes no code");
        assert!(
            added <= limit,
            "{function}, {form}: {added} instructions added to {own}, at most {limit} wanted\n{recording}"
        );
    }
    let own = hot_instructions(&plain, "load_in_loop");
    assert_eq!(own, 4, "the loop is add, inc, cmp, jne\n{plain}");
}

#[test]
fn the_naive_form_adds_few_instructions_to_a_hot_path() {
    check(
        "naive",
        [
            // Address, id, cursor, compare, branch.
            ("load_in_loop", 5),
            // The same, and the second address, cursor in and out, alignment of the stack for a
            // flush.
            ("two_loads", 13),
            // Two ids and cursors, cursor out and in, compare, branch.
            ("call_in_loop", 8),
        ],
    );
}

#[test]
fn the_fast_form_adds_nothing_to_a_regular_loop() {
    check("fast", [("load_in_loop", 0), ("two_loads", 13), ("call_in_loop", 8)]);
}
