//! How the runtime learns of a module: the module's descriptor lies in a section of its own, and
//! each linked file has a constructor and a destructor that hand the section to the runtime.

use contech_trace::abi::{
    ABI_VERSION, CHECK_FLUSH, Convention, FLUSH, Kind, MODULE_FORTRAN, MODULE_MAGIC,
    MODULE_SECTION, MODULE_SYNC, REGISTER, RuntimeFn, TLS_CHECK_CURSOR, TLS_CHECK_LIMIT,
    TLS_CURSOR, TLS_LIMIT, TLS_SIZE, TLS_SYMBOL, UNREGISTER,
};
use inkwell::GlobalVisibility;
use inkwell::ThreadLocalMode;
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::types::{ArrayType, BasicType as _, BasicTypeEnum, FunctionType};
use inkwell::values::{BasicValue, FunctionValue, GlobalValue, PointerValue};

use crate::emit::Targets;
use crate::ir;

const CTOR: &str = "__contech_module_init";
const DTOR: &str = "__contech_module_fini";

/// Prefix of the entry points of flang's run-time library.
const FORTRAN_LIBRARY: &str = "_Fortran";

/// Declares what instrumented code refers to, with an id array of `ids` bytes.
pub(crate) fn targets<'m>(module: &Module<'m>, ids: u32) -> Targets<'m> {
    let (cursor, limit) = (in_tls(module, TLS_CURSOR), in_tls(module, TLS_LIMIT));
    Targets { ids: id_array(module, ids), cursor, limit, flush: near(module, &FLUSH) }
}

/// Declares what instrumented code needs for the naive stream beside the fast one
/// (`--contech-check`).
pub(crate) fn check_targets<'m>(module: &Module<'m>, targets: Targets<'m>) -> Targets<'m> {
    let (cursor, limit) = (in_tls(module, TLS_CHECK_CURSOR), in_tls(module, TLS_CHECK_LIMIT));
    Targets { cursor, limit, flush: near(module, &CHECK_FLUSH), ..targets }
}

/// The address of a field of what the recorder has for each thread.
pub(crate) fn in_tls<'m>(module: &Module<'m>, offset: usize) -> PointerValue<'m> {
    let size = u32::try_from(TLS_SIZE).expect("a small constant");
    let ty = module.get_context().i8_type().array_type(size);
    ir::global_offset(thread_local(module, TLS_SYMBOL, ty, 16), offset as u64)
}

/// Declares a thread-local variable of a runtime library.
pub(crate) fn thread_local<'m>(
    module: &Module<'m>,
    name: &str,
    ty: ArrayType<'m>,
    alignment: u32,
) -> GlobalValue<'m> {
    module.get_global(name).unwrap_or_else(|| {
        let global = module.add_global(ty, None, name);
        global.set_thread_local(true);
        global.set_thread_local_mode(Some(ThreadLocalMode::InitialExecTLSModel));
        global.set_alignment(alignment);
        global
    })
}

/// The array is never read or written: only the addresses of its bytes count. So it costs no file
/// space and no memory, and the linker makes ids unique within the process.
fn id_array<'m>(module: &Module<'m>, n: u32) -> GlobalValue<'m> {
    let ty = module.get_context().i8_type().array_type(n);
    let ids = local(module, "__contech_ids", &ty.const_zero());
    ids.set_alignment(1);
    ids
}

/// Defines a variable that the linker does not see.
fn local<'m>(module: &Module<'m>, name: &str, value: &dyn BasicValue<'m>) -> GlobalValue<'m> {
    let global = module.add_global(value.as_basic_value_enum().get_type(), None, name);
    global.set_linkage(Linkage::Private);
    global.set_initializer(value);
    global
}

pub(crate) fn runtime_fn<'m>(module: &Module<'m>, which: &RuntimeFn) -> FunctionValue<'m> {
    if let Some(f) = module.get_function(which.symbol) {
        return f;
    }
    let ptr = ir::ptr_type(module);
    let word = module.get_context().i64_type();
    let kind = |kind: &Kind| match kind {
        Kind::Ptr => BasicTypeEnum::from(ptr),
        Kind::Word => word.into(),
    };
    let args: Vec<_> = which.args.iter().map(|arg| kind(arg).into()).collect();
    let ty = match &which.ret {
        Some(ret) => kind(ret).fn_type(&args, false),
        None => module.get_context().void_type().fn_type(&args, false),
    };
    let f = module.add_function(which.symbol, ty, None);
    ir::add_attributes(module, f, &["nounwind"]);
    if which.convention == Convention::PreserveAll {
        f.set_call_conventions(ir::PRESERVE_ALL);
        // The dynamic linker's lazy resolver would not preserve registers on the first call.
        ir::add_attributes(module, f, &["nonlazybind", "cold"]);
    }
    f
}

/// A function of the linked file itself that jumps to `which`. A direct call of it needs no
/// register; an address from the global offset table would be kept in a register through every
/// loop.
fn near<'m>(module: &Module<'m>, which: &RuntimeFn) -> FunctionValue<'m> {
    let name = format!("{}_near", which.symbol);
    if let Some(f) = module.get_function(&name) {
        return f;
    }
    let ty = runtime_fn(module, which).get_type();
    let (f, builder) = linked_once(module, &name, ty, &["cold", "naked", "noinline", "nounwind"]);
    f.set_call_conventions(ir::PRESERVE_ALL);
    let context = module.get_context();
    ir::allow_assembly();
    // The jump is assembly because in the large code model LLVM would compute the address in rax,
    // whose old value it has restored by then.
    let jump = format!("jmpq *{}@GOTPCREL(%rip)", which.symbol);
    let ty = context.void_type().fn_type(&[], false);
    let jump = context.create_inline_asm(ty, jump, String::new(), true, false, None, false);
    builder
        .build_indirect_call(ty, jump, &[], "")
        .and_then(|_| builder.build_unreachable())
        .expect("the builder stands in a block");
    f
}

/// Makes a hidden function of which each linked file has one, and stands in its block.
fn linked_once<'m>(
    module: &Module<'m>,
    name: &str,
    ty: FunctionType<'m>,
    attributes: &[&str],
) -> (FunctionValue<'m>, Builder<'m>) {
    let f = module.add_function(name, ty, Some(Linkage::LinkOnceODR));
    f.as_global_value().set_visibility(GlobalVisibility::Hidden);
    f.as_global_value().set_comdat(module.get_or_insert_comdat(name));
    ir::add_attributes(module, f, attributes);
    let context = module.get_context();
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(f, "entry"));
    (f, builder)
}

/// Adds the descriptor with the encoded table, and the code that registers it.
pub(crate) fn add<'m>(
    module: &Module<'m>,
    ids: Option<(GlobalValue<'m>, u64)>,
    table: &[u8],
    globals: &[PointerValue<'m>],
) {
    let context = module.get_context();
    let data = local(module, "__contech_table", &context.const_string(table, false));
    data.set_constant(true);
    data.set_alignment(1);

    let ptr = ir::ptr_type(module);
    let half = |n: u32| context.i32_type().const_int(u64::from(n), false).into();
    let word = |n: u64| context.i64_type().const_int(n, false).into();
    let (array, count) = match ids {
        Some((global, n)) => (global.as_pointer_value(), n),
        None => (ptr.const_null(), 0),
    };
    let fortran = module.get_functions().any(|f| ir::name(f).starts_with(FORTRAN_LIBRARY));
    let flags =
        if ids.is_none() { MODULE_SYNC } else { 0 } | if fortran { MODULE_FORTRAN } else { 0 };
    let named = if globals.is_empty() { ptr.const_null() } else { global_array(module, globals) };
    let value = context.const_struct(
        &[
            half(MODULE_MAGIC),
            half(ABI_VERSION),
            array.into(),
            word(count),
            data.as_pointer_value().into(),
            word(table.len() as u64),
            named.into(),
            word(globals.len() as u64),
            word(flags),
        ],
        false,
    );
    let descriptor = local(module, "__contech_module", &value);
    descriptor.set_linkage(Linkage::Internal);
    descriptor.set_section(Some(MODULE_SECTION));
    descriptor.set_alignment(8);
    // The mark (SHF_GNU_RETAIN) also keeps the section through --gc-sections.
    ir::append_used(module, descriptor);
    add_registration(module);
}

/// Whether the pass has already seen the module.
pub(crate) fn is_registered(module: &Module<'_>) -> bool {
    module.get_function(CTOR).is_some()
}

/// The addresses of the globals that expressions of the fast form name.
fn global_array<'m>(module: &Module<'m>, globals: &[PointerValue<'m>]) -> PointerValue<'m> {
    let value = ir::ptr_type(module).const_array(globals);
    let array = local(module, "__contech_globals", &value);
    array.set_constant(true);
    array.as_pointer_value()
}

fn add_registration(module: &Module<'_>) {
    if is_registered(module) {
        return; // LTO merged several modules, and one registration is enough
    }
    let start = section_symbol(module, "__start_");
    let stop = section_symbol(module, "__stop_");
    let section = [start, stop].map(|symbol| symbol.as_pointer_value().into());
    let make = |name, callee| {
        let callee = runtime_fn(module, callee);
        let ty = module.get_context().void_type().fn_type(&[], false);
        let (f, builder) = linked_once(module, name, ty, &["nounwind"]);
        builder
            .build_direct_call(callee, &section, "")
            .and_then(|_| builder.build_return(None))
            .expect("the builder stands in a block");
        f
    };
    ir::append_ctor(module, make(CTOR, &REGISTER));
    ir::append_dtor(module, make(DTOR, &UNREGISTER));
}

fn section_symbol<'m>(module: &Module<'m>, prefix: &str) -> GlobalValue<'m> {
    let name = format!("{prefix}{MODULE_SECTION}");
    if let Some(global) = module.get_global(&name) {
        return global;
    }
    let global = module.add_global(module.get_context().i8_type().array_type(0), None, &name);
    global.set_linkage(Linkage::ExternalWeak);
    global.set_visibility(GlobalVisibility::Hidden);
    global
}
