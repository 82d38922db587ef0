; The module is found by its section, kept through section collection, and registered once per linked
; file before any constructor.

; CHECK: $__contech_module_init = comdat any
; CHECK: $__contech_module_fini = comdat any
; CHECK: @__contech_module = internal global { {{.*}} }, section "contech_modules", no_sanitize_address, align 8
; CHECK: @llvm.used = appending global [1 x ptr] [ptr @__contech_module], section "llvm.metadata"
; CHECK: @__start_contech_modules = extern_weak hidden global
; CHECK: @__stop_contech_modules = extern_weak hidden global
; CHECK: @llvm.global_ctors = appending global {{.*}} { i32 0, ptr @__contech_module_init, ptr @__contech_module_init }
; CHECK: @llvm.global_dtors = appending global {{.*}} { i32 0, ptr @__contech_module_fini, ptr @__contech_module_fini }
; CHECK: define linkonce_odr hidden void @__contech_module_init(){{.*}} comdat
; CHECK: call void @__contech_register(ptr @__start_contech_modules, ptr @__stop_contech_modules)

define void @f() {
  ret void
}
