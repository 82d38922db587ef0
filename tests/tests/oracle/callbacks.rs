//! The sanitizer's callbacks in textual IR.

use anyhow::{Context, Result};

/// Flags that make clang call a function before every access, and do nothing else: no shadow
/// memory, no red zones, no access left out.
pub(crate) const FLAGS: [&str; 15] = [
    "-fsanitize=kernel-address",
    "-mllvm",
    "-asan-instrumentation-with-call-threshold=0",
    "-mllvm",
    "-asan-stack=0",
    "-mllvm",
    "-asan-globals=0",
    "-mllvm",
    "-asan-opt=0",
    "-mllvm",
    "-asan-opt-same-temp=0",
    "-mllvm",
    "-asan-skip-promotable-allocas=0",
    "-mllvm",
    "-asan-use-stack-safety=0",
];

/// Renames the callbacks to functions that do not end a block, as the pass knows, with the size as
/// an argument.
pub(crate) fn rename(ir: &str) -> Result<String> {
    let mut text = String::with_capacity(ir.len());
    for line in ir.lines() {
        if line.starts_with("declare void @__asan_load")
            || line.starts_with("declare void @__asan_store")
        {
            continue;
        }
        text.push_str(&rename_call(line)?);
        text.push('\n');
    }
    text.push_str("declare void @__isnan(i64, i64)\ndeclare void @__isinf(i64, i64)\n");
    Ok(text)
}

fn rename_call(line: &str) -> Result<String> {
    for (prefix, name) in [("@__asan_load", "@__isnan"), ("@__asan_store", "@__isinf")] {
        let Some((before, rest)) = line.split_once(prefix) else {
            continue;
        };
        let (size, rest) = rest.split_once("_noabort(").with_context(|| line.to_owned())?;
        // The argument may itself hold parentheses, so the call's own closing one is the last.
        let (arguments, after) = rest.rsplit_once(')').with_context(|| line.to_owned())?;
        let size = if size == "N" { String::new() } else { format!(", i64 {size}") };
        return Ok(format!("{before}{name}({arguments}{size}){after}"));
    }
    Ok(line.to_owned())
}
