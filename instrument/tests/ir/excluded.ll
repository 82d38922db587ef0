; Functions that cannot or should not record are left exactly as they are.

@text = private constant [11 x i8] c"no_contech\00"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @opted_out, ptr @text, ptr null, i32 1, ptr null }], section "llvm.metadata"
@chosen = ifunc i32 (), ptr @resolver

; CHECK-LABEL: define i32 @recorded()
; CHECK: __contech_tls
define i32 @recorded() {
  ret i32 0
}

; CHECK-LABEL: define ptr @resolver()
; CHECK-NEXT: call ptr @resolver_helper()
; CHECK-NEXT: ret ptr
define ptr @resolver() {
  %p = call ptr @resolver_helper()
  ret ptr %p
}

; CHECK-LABEL: define internal ptr @resolver_helper()
; CHECK-NEXT: ret ptr
define internal ptr @resolver_helper() {
  ret ptr @recorded
}

; CHECK-LABEL: define i32 @opted_out()
; CHECK-NEXT: ret i32
define i32 @opted_out() {
  ret i32 1
}

; CHECK-LABEL: define i32 @bare()
; CHECK-NEXT: call void asm
; CHECK-NEXT: unreachable
define i32 @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; The compiler may call it in place of an instruction, with the cursor in a register of the caller.
; CHECK-LABEL: define i64 @strlen(ptr
; CHECK-NOT: contech
; CHECK: ret i64
define i64 @strlen(ptr %s) {
  ret i64 0
}

; CHECK-LABEL: define available_externally i32 @elsewhere()
; CHECK-NEXT: ret i32
define available_externally i32 @elsewhere() {
  ret i32 2
}
