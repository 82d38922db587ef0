; Arguments copied for a call are read at the call; a va_list is written by va_start and va_copy.

%struct = type { [5 x i64] }
declare void @callee(ptr byval(%struct), i32, ptr byval(i32))
declare i32 @__gxx_personality_v0(...)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_copy.p0(ptr, ptr)
declare void @llvm.va_end.p0(ptr)

define void @byval(ptr %p, ptr %q) {
; CHECK-LABEL: define void @byval(
; CHECK: store ptr %p, ptr [[B:%.*]], align 1
; CHECK: [[B6:%.*]] = getelementptr i8, ptr [[B]], i64 6
; CHECK: store ptr %q, ptr [[B6]], align 1
; CHECK: [[B12:%.*]] = getelementptr i8, ptr [[B]], i64 12
; CHECK: getelementptr i8, ptr [[B12]], i64 4
; CHECK: call void @callee
  call void @callee(ptr byval(%struct) %p, i32 1, ptr byval(i32) %q)
  ret void
}

define void @unwinds(ptr %p, ptr %q) personality ptr @__gxx_personality_v0 {
; CHECK-LABEL: define void @unwinds(
; CHECK: store ptr %p, ptr [[B:%.*]], align 1
; CHECK: invoke void @callee
  invoke void @callee(ptr byval(%struct) %p, i32 1, ptr byval(i32) %q) to label %ok unwind label %bad
ok:
  ret void
bad:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
}

define void @variadic(ptr %p, ptr %q, ...) {
; CHECK-LABEL: define void @variadic(
; CHECK: store ptr %p, ptr [[B:%.*]], align 1
; CHECK: call void @llvm.va_start
; CHECK: store ptr %q, ptr
; CHECK: store ptr %p, ptr
; CHECK: call void @llvm.va_copy
  call void @llvm.va_start.p0(ptr %p)
  call void @llvm.va_copy.p0(ptr %q, ptr %p)
  call void @llvm.va_end.p0(ptr %q)
  ret void
}

define win64cc void @windows(ptr %p, ...) {
; CHECK-LABEL: define win64cc void @windows(
  call void @llvm.va_start.p0(ptr %p)
  ret void
}
