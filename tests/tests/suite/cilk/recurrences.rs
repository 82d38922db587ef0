//! Work and span of parallel loops must equal their recurrences.

use std::path::Path;

use anyhow::{Context, Result};
use contech_tests::scratch::Scratch;
use serde_json::Value;

use super::profile::site;
use super::programs::{analyse, build, execute, profile};

/// Work and span of the outermost invocation of a function.
fn outermost(profile: &Value, function: &str) -> Result<[u64; 2]> {
    let top = &site(profile, "main", function, "call")?["on_work"]["top_call_site"];
    let value = |key: &str| top[key].as_u64().context(key.to_owned());
    Ok([value("work")?, value("span")?])
}

/// Work and span, in operations, of `loop` in a program whose parallel loop has `n` indices in
/// grains of `grain`.
fn parallel_loop(
    program: &Path,
    dir: &Path,
    on_line: bool,
    n: u64,
    grain: u64,
) -> Result<[u64; 2]> {
    execute(program, dir, &[&n.to_string(), &grain.to_string()], "ops")?;
    let profile = if on_line { profile(dir)? } else { analyse(dir, "ops")? };
    outermost(&profile, "loop")
}

#[test]
fn a_parallel_loop_has_the_span_of_one_grain_and_of_its_halvings() -> Result<()> {
    for name in ["range.c", "loop.cpp"] {
        let mut modes = Vec::new();
        for options in [&[][..], &["--contech-mode=workspan"]] {
            let on_line = !options.is_empty();
            let scratch = Scratch::new(&format!("cilk-loop-{name}-{on_line}"))?;
            let program = build(name, scratch.dir(), options)?;
            let of = |n, grain| parallel_loop(&program, scratch.dir(), on_line, n, grain);
            // One grain is serial, and each of its indices costs the same. (The loop does not
            // compare a single index with the grain.)
            let ([two, span], [three, _]) = (of(2, 64)?, of(3, 64)?);
            assert_eq!(two, span, "{name}");
            let each = three - two;
            let leaf = |grain: u64| two + (grain - 2) * each;
            // What a halving adds to the span, and to the work in addition to the second half.
            let [work, span] = of(4, 2)?;
            let (step, more) = (span - two, work - 2 * two);
            assert!(step < more + two, "{name}: the halves are parallel");
            let mut all = Vec::new();
            for (grain, halvings) in [(2, 7), (4, 4), (8, 0), (8, 1), (8, 7), (64, 5)] {
                let n = grain << halvings;
                let [work, span] = of(n, grain)?;
                let grains = 1 << halvings;
                let expected = grains * leaf(grain) + (grains - 1) * more;
                assert_eq!(work, expected, "{name}: work of {n} by {grain}");
                let expected = leaf(grain) + halvings * step;
                assert_eq!(span, expected, "{name}: span of {n} by {grain}");
                all.push([work, span]);
            }
            // The range does not divide evenly, so its longest path is that of the largest part.
            let [work, span] = of(100, 8)?;
            assert_eq!(span, leaf(7) + 4 * step, "{name}: span of 100 by 8");
            assert!(work > 8 * span, "{name}: {work} and {span} of 100 by 8");
            all.push([work, span]);
            modes.push(all);
            scratch.done()?;
        }
        assert_eq!(modes[0], modes[1], "{name}: from the graph and on-line");
    }
    Ok(())
}
