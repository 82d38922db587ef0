//! `--contech-explain`: what each function records, on stderr.

use contech_plain::say;

use crate::plan::{FunctionPlan, Unrecorded};

/// Prints one line for a function that records.
pub(crate) fn function(name: &str, plan: &FunctionPlan<'_>, why: &str) {
    let written = plan.pieces.iter().filter(|p| !p.silent);
    let (mut blocks, mut ops, mut bytes, mut checks) = (0, 0, 0, 0);
    for piece in written {
        blocks += 1;
        ops += piece.ops.len();
        bytes += piece.bytes();
        checks += usize::from(piece.check);
    }
    checks += plan.blocks.iter().filter(|b| b.check_at_end).count();
    say!(
        "contech: {name}: naive form ({why}): {blocks} blocks, {ops} memory operations, {bytes} bytes if each block runs once, {checks} room checks"
    );
    unrecorded(name, &plan.unrecorded);
}

/// Prints one line per reason why something in `place` is not recorded.
pub(crate) fn unrecorded(place: &str, reasons: &Unrecorded) {
    for (reason, n) in reasons {
        say!("contech: {place}: not recorded: {reason} ({n} x)");
    }
}
