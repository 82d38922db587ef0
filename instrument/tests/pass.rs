//! The pass on small pieces of IR: `opt-22` runs it, and `FileCheck-22` compares the result with
//! the expectations in each file of `tests/ir`. Both tools come with llvm-22-dev.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use contech_program::OpKind;
use contech_tests::outputs::output;
use contech_trace::fast::Target;
use contech_trace::table::{
    BLOCK_CONTINUED, BLOCK_ENTRY, BLOCK_LANDING, BLOCK_LOOP_HEADER, BLOCK_RETURN, ModuleTable,
};

mod piped;
use piped::piped;

fn opt(ir: &str, options: &str) -> Output {
    let plugin = output("libcontech_instrument.so");
    let mut opt = Command::new("opt-22");
    opt.arg(format!("-load-pass-plugin={}", plugin.display()))
        .args(["-passes=contech", "-S", "-", "-o", "-"])
        .env("CONTECH_PASS_OPTIONS", options);
    piped(&mut opt, ir)
}

fn instrumented(ir: &str) -> String {
    let output = opt(ir, "naive,verify");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn source(file: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// The table in instrumented IR, which is the initialiser of `@__contech_table`.
fn table(ir: &str) -> ModuleTable {
    let line = ir.lines().find(|l| l.starts_with("@__contech_table = ")).expect("a table");
    let (_, rest) = line.split_once(" c\"").unwrap();
    let text = &rest.as_bytes()[..rest.rfind('"').unwrap()];
    let mut bytes = Vec::new();
    let mut i = 0;
    while i < text.len() {
        if text[i] == b'\\' && text[i + 1] != b'\\' {
            let hex = std::str::from_utf8(&text[i + 1..i + 3]).unwrap();
            bytes.push(u8::from_str_radix(hex, 16).unwrap());
            i += 3;
        } else {
            i += if text[i] == b'\\' { 2 } else { 1 };
            bytes.push(text[i - 1]);
        }
    }
    ModuleTable::decode(&bytes).unwrap()
}

#[test]
fn small_pieces_of_ir_become_what_they_expect() {
    for (file, what) in [
        ("loop.ll", "a loop keeps the cursor in a register and checks on its back edge"),
        ("calls.ll", "calls find the cursor in thread-local storage and tail calls survive"),
        ("carry.ll", "functions of one module hand the cursor over in a register"),
        ("unwind.ll", "unwinding loses no record"),
        ("memory.ll", "every kind of memory operation writes its operands"),
        ("x86.ll", "x86 intrinsics record the masks and addresses they compute"),
        ("arguments.ll", "arguments passed by copy are read and argument lists written"),
        ("irreducible.ll", "an irreducible cycle is checked once"),
        ("excluded.ll", "excluded functions stay as they are"),
        ("workshares.ll", "worksharing calls say what kind of work they share"),
        ("registration.ll", "a module registers once per linked file"),
    ] {
        let (path, text) = source(file);
        let got = instrumented(&text);
        let output = piped(Command::new("FileCheck-22").arg(&path), &got);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{file}: {what}\n{said}\n{got}");
    }
}

/// A computed goto ends a segment, and its targets begin segments at whose start nothing is known.
/// A direct jump to such a target ends its segment, too.
#[test]
fn computed_gotos_are_recorded_in_the_fast_form() {
    let output = opt(&source("gotos.ll").1, "fast,verify");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let t = table(&String::from_utf8(output.stdout).unwrap());
    let [f] = &t.fast[..] else { panic!("the function is not in fast form") };
    let fresh = f.starts.iter().filter(|s| s.fresh).count();
    assert_eq!((fresh, f.starts.len()), (3, 3), "{:?}", f.starts);
    let mut edges = f.edges.iter().flatten();
    let within = |t| matches!(t, Target::Node(_) | Target::End);
    assert!(edges.all(|e| within(e.target)), "{:?}", f.edges);
}

#[test]
fn x86_intrinsics_record_the_masks_and_addresses_they_compute() {
    let t = table(&instrumented(&source("x86.ll").1));
    let ops: Vec<_> = t
        .blocks
        .iter()
        .flat_map(|b| &b.ops)
        .map(|o| (o.kind, o.size, o.lanes, o.const_len))
        .collect();
    assert_eq!(
        ops,
        [
            (OpKind::MaskedLoad, 4, 4, 0),
            (OpKind::MaskedStore, 8, 4, 0),
            (OpKind::Gather, 4, 2, 0),
            (OpKind::Scatter, 4, 2, 0),
            (OpKind::Gather, 8, 8, 0),
            (OpKind::MaskedStore, 1, 2, 0),
            (OpKind::MaskedStore, 1, 16, 0),
            (OpKind::Load, 32, 0, 0),
            (OpKind::Store, 4, 0, 0),
            (OpKind::Copy, 0, 0, 64),
        ]
    );
    assert_eq!(t.unrecorded, []);
    // The instructions added to compute them are not the program's.
    let counts: Vec<_> = t.blocks.iter().map(|b| b.ir_ops).collect();
    assert_eq!(counts, [2, 2, 2, 2, 2, 2, 6]);
}

#[test]
fn arguments_passed_by_copy_are_read_and_argument_lists_written() {
    let t = table(&instrumented(&source("arguments.ll").1));
    let ops: Vec<_> = t
        .blocks
        .iter()
        .map(|b| b.ops.iter().map(|o| (o.kind, o.size, o.const_len)).collect::<Vec<_>>())
        .filter(|b| !b.is_empty())
        .collect();
    let byval = vec![(OpKind::Load, 40, 0), (OpKind::Load, 4, 0)];
    let variadic = vec![(OpKind::Store, 24, 0), (OpKind::Copy, 0, 24)];
    let windows = vec![(OpKind::Store, 8, 0)];
    assert_eq!(ops, [byval.clone(), byval, variadic, windows]);
    assert_eq!(t.unrecorded, []);
}

#[test]
fn pieces_carry_their_callee_and_their_place() {
    let t = table(&instrumented(&source("calls.ll").1));
    let of = |name: &str| {
        let f = t.functions.iter().position(|f| f.name == name).unwrap();
        t.blocks.iter().filter(|b| b.function as usize == f).collect::<Vec<_>>()
    };
    let between = of("between");
    assert_eq!(between.len(), 2);
    assert_eq!(between[0].call.as_ref().unwrap().callee, "other");
    assert_eq!(between[1].flags, BLOCK_CONTINUED | BLOCK_RETURN);
    // Nothing is written after a tail call, so the call's own piece has the flag of a return.
    let tail = of("tail");
    assert_eq!((tail.len(), tail[0].flags), (1, BLOCK_ENTRY | BLOCK_RETURN));
    let pad = table(&instrumented(&source("unwind.ll").1));
    assert!(pad.blocks.iter().any(|b| b.flags & BLOCK_LANDING != 0));
    let header = table(&instrumented(&source("loop.ll").1));
    assert_eq!(header.blocks[1].flags, BLOCK_LOOP_HEADER);
}

#[test]
fn what_calls_of_the_library_access_is_recorded_around_them() {
    let ir = "@text = constant [3 x i8] c\"%s\\00\"\n\
        declare i64 @read(i32, ptr, i64)\n\
        declare i64 @write(i32, ptr, i64)\n\
        declare i64 @strlen(ptr)\n\
        declare ptr @strcpy(ptr, ptr)\n\
        declare i64 @strtol(ptr, ptr, i32)\n\
        declare i32 @printf(ptr, ...)\n\
        declare i32 @send(ptr, i32)\n\
        define i64 @f(ptr %p, ptr %q, i64 %n) {\n\
        %r = call i64 @read(i32 0, ptr %p, i64 %n)\n\
        %w = call i64 @write(i32 1, ptr %p, i64 5)\n\
        %l = call i64 @strlen(ptr %p)\n\
        %c = call ptr @strcpy(ptr %q, ptr %p)\n\
        %v = call i64 @strtol(ptr %q, ptr null, i32 10)\n\
        %o = call i32 (ptr, ...) @printf(ptr @text, ptr %p)\n\
        %s = call i32 @send(ptr %p, i32 7)\n\
        %t = tail call i64 @read(i32 0, ptr %q, i64 %n)\n\
        ret i64 %t\n}\n";
    let t = table(&instrumented(ir));
    let blocks = t.blocks.iter().map(|b| {
        let kinds = b.ops.iter().map(|o| (o.kind, o.const_len));
        let callee = b.call.as_ref().map_or("", |c| c.callee.as_str());
        (callee, kinds.collect::<Vec<_>>())
    });
    let (set, scan, copy) = (OpKind::Set, OpKind::Scan, OpKind::Copy);
    let expected = [
        ("read", vec![]),
        // What was read is written after the call, and what is written is read before.
        ("write", vec![(set, 0), (scan, 5)]),
        ("strcpy", vec![(scan, 0), (copy, 0)]),
        ("strtol", vec![]),
        // The number is read up to the character that ends it, whose address the program does not
        // ask for, and the format is constant.
        ("printf", vec![(scan, 0), (scan, 0)]),
        // The program's own function of the name.
        ("send", vec![]),
        ("read", vec![]),
        ("", vec![(set, 0)]),
    ];
    assert_eq!(blocks.collect::<Vec<_>>(), expected);
    assert_eq!(t.unrecorded, []);
}

#[test]
fn what_is_not_recorded_is_counted_by_reason() {
    let t = table(&instrumented(&source("excluded.ll").1));
    let count = |word: &str| {
        t.unrecorded.iter().filter(|(r, _)| r.contains(word)).map(|(_, n)| n).sum::<u64>()
    };
    assert_eq!(count("ifunc resolver"), 2);
    assert_eq!(count("no_contech"), 1);
    assert_eq!(count("naked"), 1);
    assert_eq!(count("library function"), 1);
    let ir = "define i32 @f(ptr addrspace(257) %p) {\n %v = load i32, ptr addrspace(257) %p\n \
        call void asm sideeffect \"nop\", \"~{memory}\"()\n ret i32 %v\n}\n";
    let t = table(&instrumented(ir));
    let reasons: Vec<_> = t.unrecorded.iter().map(|(r, n)| (r.as_str(), *n)).collect();
    assert_eq!(reasons, [("address space 257", 1), ("inline assembly", 1)]);
}

#[test]
fn a_long_block_is_split_and_checked_within_the_slack() {
    let mut ir = String::from("define void @f(ptr %p) {\n");
    for i in 0..5000 {
        ir += &format!(" store volatile i8 {}, ptr %p\n", i % 100);
    }
    ir += " ret void\n}\n";
    let got = instrumented(&ir);
    let t = table(&got);
    let largest = t.blocks.iter().map(|b| b.operand_bytes() + 4).max().unwrap();
    assert!(largest <= contech_trace::abi::MAX_RECORD, "{largest}");
    assert_eq!(t.blocks.iter().map(|b| b.ops.len()).sum::<usize>(), 5000);
    let checks = got.matches("call preserve_allcc ptr @__contech_flush").count();
    let bytes: usize = t.blocks.iter().map(|b| b.operand_bytes() + 4).sum();
    assert!(checks >= bytes / contech_trace::abi::MAX_UNCHECKED, "{checks} checks, {bytes} bytes");
}
