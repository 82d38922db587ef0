; flang does not say what kind of work a call shares; libomp wants it said. What clang has said stays.

; CHECK-DAG: @0 = private unnamed_addr constant %ident { i32 0, i32 2, i32 0, i32 0, ptr null }
; CHECK-DAG: [[LOOP:@[0-9]+]] = private unnamed_addr constant %ident { i32 0, i32 514, i32 0, i32 0, ptr null }
; CHECK-DAG: [[SECTIONS:@[0-9]+]] = private unnamed_addr constant %ident { i32 0, i32 1026, i32 0, i32 0, ptr null }
; CHECK-DAG: [[DISTRIBUTE:@[0-9]+]] = private unnamed_addr constant %ident { i32 0, i32 2050, i32 0, i32 0, ptr null }
; CHECK-DAG: @said = private unnamed_addr constant %ident { i32 0, i32 1026, i32 0, i32 0, ptr null }

%ident = type { i32, i32, i32, i32, ptr }
@0 = private unnamed_addr constant %ident { i32 0, i32 2, i32 0, i32 0, ptr null }
@said = private unnamed_addr constant %ident { i32 0, i32 1026, i32 0, i32 0, ptr null }

declare void @__kmpc_for_static_init_4u(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_barrier(ptr, i32)

; CHECK-LABEL: define {{.*}} @loop
; CHECK: call void @__kmpc_for_static_init_4u(ptr [[LOOP]],
; CHECK: call void @__kmpc_for_static_fini(ptr @0,
; CHECK: call void @__kmpc_for_static_init_4u(ptr [[DISTRIBUTE]],
; CHECK: call void @__kmpc_for_static_init_4u(ptr @said,
define void @loop(ptr %p) {
  call void @__kmpc_for_static_init_4u(ptr @0, i32 0, i32 34, ptr %p, ptr %p, ptr %p, ptr %p, i32 1, i32 0)
  call void @__kmpc_for_static_fini(ptr @0, i32 0)
  call void @__kmpc_for_static_init_4u(ptr @0, i32 0, i32 92, ptr %p, ptr %p, ptr %p, ptr %p, i32 1, i32 0)
  call void @__kmpc_for_static_fini(ptr @0, i32 0)
  call void @__kmpc_for_static_init_4u(ptr @said, i32 0, i32 34, ptr %p, ptr %p, ptr %p, ptr %p, i32 1, i32 0)
  call void @__kmpc_for_static_fini(ptr @0, i32 0)
  ret void
}

; CHECK-LABEL: define {{.*}} @sections
; CHECK: call void @__kmpc_for_static_init_4u(ptr [[SECTIONS]],
define void @sections(ptr %p, i1 %c) {
  call void @__kmpc_for_static_init_4u(ptr @0, i32 0, i32 34, ptr %p, ptr %p, ptr %p, ptr %p, i32 1, i32 0)
  br i1 %c, label %omp_section_loop.body, label %done
omp_section_loop.body:
  br i1 %c, label %omp_section_loop.body, label %done
done:
  call void @__kmpc_for_static_fini(ptr @0, i32 0)
  ret void
}
