//! Instruments one translation unit.

use contech_plain::say;
use contech_trace::abi::{RESERVED_IDS, TLS_CURSOR, TURN};
use contech_trace::table::{BLOCK_CHECKED, Block, Call, Function, ModuleTable};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, GlobalValue, InstructionValue};

use crate::atomics::Order;
use crate::carry::{Carried, Carry};
use crate::fast::{self, Fast, Globals};
use crate::ir;
use crate::known;
use crate::online;
use crate::options::Options;
use crate::plan::{self, End, FunctionPlan, Piece, Prepared, Unrecorded};
use crate::select::{Choice, MARK, Selector};
use crate::source::{self, Inlining};
use crate::{atomics, callee, clib, descriptor, x86};

/// Instruments the module. Returns whether it changed. `before_link` says that the module will be
/// optimised again when it is linked.
///
/// # Errors
/// A text for the user when the module cannot be instrumented. The module must then not be compiled
/// further.
pub(crate) fn instrument(
    module: &Module<'_>,
    options: Options,
    before_link: bool,
) -> Result<bool, String> {
    if !is_for_this_process(module, options) {
        return Ok(false);
    }
    let marked = ir::mark_workshares(module);
    let selector = Selector::new(module);
    let mut chosen = Vec::new();
    let mut unrecorded = Unrecorded::new();
    for f in module.get_functions() {
        match selector.choose(f) {
            Choice::Record => chosen.push(f),
            Choice::Ignore => {}
            Choice::Refuse(reason) => {
                *unrecorded.entry(reason.to_owned()).or_default() += 1;
                if options.explain {
                    say!("contech: {}: not recorded: {reason}", ir::name(f));
                }
            }
        }
    }
    if chosen.is_empty() && (unrecorded.is_empty() || descriptor::is_registered(module)) {
        return Ok(marked);
    }
    ir::mark_program(module);
    let mark = module.get_context().create_string_attribute(MARK, "");
    for f in &chosen {
        source::find_program(module, *f);
        f.add_attribute(AttributeLoc::Function, mark);
    }
    if options.workspan {
        profile(module, &chosen)?;
        return finished(module, options);
    }
    let mut table = ModuleTable {
        name: module.get_source_file_name().to_string_lossy().into_owned(),
        ..ModuleTable::default()
    };
    for f in &chosen {
        let (file, line) = source::definition(module, *f);
        table.functions.push(Function { name: ir::name(*f), file, line });
    }
    let mut globals = Globals::default();
    let order = Order::of(module, options);
    let ids = if options.sync_only {
        for f in &chosen {
            if let Some(order) = order {
                ir::hoist_allocas(*f);
                order.add(*f);
            }
        }
        None
    } else {
        Some(record(
            module,
            &mut chosen,
            &mut table,
            &mut unrecorded,
            &mut globals,
            (order, options),
            before_link,
        )?)
    };
    table.unrecorded = unrecorded.into_iter().collect();
    descriptor::add(module, ids, &table.encode(), &globals.list);
    finished(module, options)
}

fn finished(module: &Module<'_>, options: Options) -> Result<bool, String> {
    ir::hide_ours(module);
    if options.verify {
        module
            .verify()
            .map_err(|e| format!("the verifier rejects the instrumented module: {e}"))?;
    }
    Ok(true)
}

/// Inserts the on-line profiler's hooks. Functions are prepared and cut as for a recording, so that
/// operations are counted alike.
fn profile<'m>(module: &Module<'m>, chosen: &[FunctionValue<'m>]) -> Result<(), String> {
    let (carry, mut inlining) = (Carry::default(), Inlining::default());
    let plan = |f: &FunctionValue<'m>| {
        let prepared = prepare(module, *f, (None, false), None)?;
        Ok(FunctionPlan::new(module, *f, &prepared, &carry, &mut inlining))
    };
    let plans = chosen.iter().map(plan).collect::<Result<Vec<_>, String>>()?;
    drop_attributes(module, &plans);
    let log = online::Log::declare(module);
    for (f, plan) in chosen.iter().zip(&plans) {
        online::emit(module, *f, plan, log)?;
    }
    Ok(())
}

/// Brings a function into the form that is recorded. `ours` is an instruction that the program does
/// not have.
fn prepare<'m>(
    module: &Module<'m>,
    f: FunctionValue<'m>,
    (order, records): (Option<Order<'m>>, bool),
    ours: Option<InstructionValue<'m>>,
) -> Result<Prepared<'m>, String> {
    ir::hoist_allocas(f);
    keep_frames(f);
    ir::fold_tail_returns(f);
    let blocks = f.get_basic_block_iter().collect();
    plan::separate_invoke_edges(f);
    let instructions = ir::instructions(f).filter(|i| Some(*i) != ours).collect();
    if let Some(order) = order {
        order.add(f);
    }
    if records {
        ir::mark_waits(f, descriptor::runtime_fn(module, &TURN));
    }
    let mut effects = x86::prepare(module, f);
    if records {
        clib::prepare(module, f, &mut effects)
            .map_err(|e| format!("cannot insert lengths: {e}"))?;
    }
    Ok(Prepared { blocks, instructions, effects })
}

/// Forbids tail calls of the functions that the runtime intercepts. It tells the program's own
/// synchronisation from that of libraries by the return address. If a callback that a library calls
/// ended in `pthread_mutex_unlock(&m)` as a tail call, the return address would be the library's,
/// and the release would be lost.
fn keep_frames(f: FunctionValue<'_>) {
    for call in ir::instructions(f) {
        let external = ir::called(call).filter(|f| f.count_basic_blocks() == 0);
        if external.is_some_and(|f| known::is_intercepted(&ir::name(f))) {
            ir::forbid_tail_call(call);
        }
    }
}

const TOO_MANY: &str = "more blocks and paths than 32-bit ids in one file: split it";

/// Whether the module's code runs in this process. The ABI is that of x86-64 with 8-byte pointers.
/// The same compiler run may also compile code for an accelerator, which is left alone silently;
/// code for another processor is left alone with a warning.
fn is_for_this_process(module: &Module<'_>, options: Options) -> bool {
    const DEVICES: [&str; 5] = ["nvptx", "amdgcn", "spirv", "bpf", "wasm"];
    let triple = module.get_triple();
    let triple = triple.as_str().to_string_lossy();
    let ours = triple.is_empty() || triple.starts_with("x86_64") && !triple.ends_with("x32");
    if !ours && (options.explain || !DEVICES.iter().any(|d| triple.starts_with(d))) {
        say!(
            "contech: {}: not recorded: code for {triple}, only x86_64 is",
            module.get_name().to_string_lossy()
        );
    }
    ours
}

/// Inserts the recording into all chosen functions. The id array has one byte per block, followed
/// by one per path of the functions in fast form.
fn record<'m>(
    module: &Module<'m>,
    chosen: &mut [FunctionValue<'m>],
    table: &mut ModuleTable,
    unrecorded: &mut Unrecorded,
    globals: &mut Globals<'m>,
    (order, options): (Option<Order<'m>>, Options),
    before_link: bool,
) -> Result<(GlobalValue<'m>, u64), String> {
    let carry = match before_link {
        true => Carry::default(),
        false => Carry::add(module, chosen, descriptor::in_tls(module, TLS_CURSOR)),
    };
    let mut paths = 0u32;
    let mut inlining = Inlining::default();
    // The forms, with the index of the first path of each fast one.
    let (mut plans, mut forms) = (Vec::new(), Vec::new());
    for (f, index) in chosen.iter().zip(0..) {
        let carried = carry.of(*f);
        let slot = carried.slot.and_then(|s| s.as_instruction());
        let prepared = prepare(module, *f, (order, true), slot)?;
        let analysis = if options.fast { fast::open(*f) } else { Err("asked for") };
        let mut plan = FunctionPlan::new(module, *f, &prepared, &carry, &mut inlining);
        for piece in plan.pieces.iter_mut().filter(|p| !p.silent) {
            piece.id = u32::try_from(table.blocks.len()).map_err(|_| TOO_MANY)?;
            table.blocks.push(block(index, piece, options));
        }
        for (reason, n) in &plan.unrecorded {
            *unrecorded.entry(reason.clone()).or_default() += n;
        }
        let fast = analysis.and_then(|analysis| Fast::of(&plan, &analysis, globals));
        let (fast, why) = match fast {
            Ok(fast) => (fast, None),
            Err(why) => (Fast::naive(&plan), Some(why)),
        };
        if options.explain {
            fast.explain(&ir::name(*f), &plan, why);
        }
        let mut first_path = None;
        if why.is_none() {
            table.fast.push(fast.table(&plan, index, paths));
            first_path = Some(u64::from(paths));
            paths = paths.checked_add(fast.path_count()).ok_or(TOO_MANY)?;
        }
        plans.push(plan);
        forms.push((fast, first_path));
    }
    table.inlined = inlining.calls;
    let blocks = table.blocks.len() as u64;
    let count = u32::try_from(blocks + u64::from(paths))
        .ok()
        .filter(|n| *n < u32::MAX - RESERVED_IDS)
        .ok_or(TOO_MANY)?;
    drop_attributes(module, &plans);
    let targets = descriptor::targets(module, count.max(1));
    let check_targets = options.check.then(|| descriptor::check_targets(module, targets));
    for ((f, plan), (form, first_path)) in chosen.iter().zip(&plans).zip(forms) {
        // The ids of the naive form are those of the blocks.
        let first = first_path.map_or(0, |path| blocks + path);
        fast::emit::emit(module, *f, plan, &form, (targets, first), carry.of(*f))?;
        if let Some(targets) = check_targets {
            let naive = Fast::naive(plan);
            fast::emit::emit(module, *f, plan, &naive, (targets, 0), Carried::default())?;
        }
    }
    Ok((targets.ids, u64::from(count)))
}

fn block(function: u32, piece: &Piece<'_>, options: Options) -> Block {
    let call = match &piece.end {
        End::Call { callee, line } => Some(Call {
            callee: atomics::display(callee).map_or_else(|| callee.clone(), str::to_owned),
            line: line.number,
            inlined: line.inlined,
        }),
        End::Terminator | End::Full => None,
    };
    Block {
        function,
        line: piece.line.number,
        inlined: piece.line.inlined,
        flags: piece.flags | if options.check { BLOCK_CHECKED } else { 0 },
        ir_ops: piece.ir_ops,
        call,
        ops: piece.ops.iter().map(|o| o.op).collect(),
    }
}

/// Removes the promises not to write memory or not to call from every function that may run
/// instrumented code and from every boundary call, because recording breaks them.
fn drop_attributes<'m>(module: &Module<'m>, plans: &[FunctionPlan<'m>]) {
    for f in module.get_functions() {
        let name = ir::name(f);
        if !name.starts_with("llvm.") && !callee::is_pure(f, &name) {
            ir::drop_function_attributes(f);
        }
    }
    for piece in plans.iter().flat_map(|plan| &plan.pieces) {
        if piece.ends_with_call() {
            ir::drop_call_attributes(piece.last);
        }
    }
}
