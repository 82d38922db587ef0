; A call that may record has the cursor in thread-local storage before it and reads it back after it.

declare i32 @other(i32) memory(none) nosync
declare double @sqrt(double)
declare i32 @log(ptr)
declare void @stop() noreturn

; CHECK: declare i32 @other(i32)
; CHECK-NOT: memory(none)

define i32 @between(i32 %x) {
; CHECK-LABEL: define i32 @between(
; CHECK: store ptr @__contech_ids,
; CHECK: store ptr [[C:%.*]], ptr @__contech_tls
; CHECK-NEXT: %a = call i32 @other
; CHECK-NEXT: [[D:%.*]] = load ptr, ptr @__contech_tls
; CHECK-NEXT: [[L:%.*]] = load ptr, ptr getelementptr (i8, ptr @__contech_tls, i64 8)
; CHECK-NEXT: icmp uge ptr [[D]], [[L]]
; CHECK: %b = add
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: ret i32 %b
  %a = call i32 @other(i32 %x)
  %b = add i32 %a, 1
  ret i32 %b
}

define i32 @tail(i32 %x) {
; CHECK-LABEL: define i32 @tail(
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: %a = tail call i32 @other
; CHECK-NEXT: ret i32 %a
  %a = tail call i32 @other(i32 %x)
  ret i32 %a
}

define i32 @must(i32 %x) {
; CHECK-LABEL: define i32 @must(
; CHECK: %a = musttail call i32 @other
; CHECK-NEXT: ret i32 %a
  %a = musttail call i32 @other(i32 %x)
  ret i32 %a
}

; A return block shared by tail calls must not cost them.
define i32 @shared(i1 %c, i32 %x) {
; CHECK-LABEL: define i32 @shared(
; CHECK: %a = tail call i32 @other
; CHECK-NEXT: ret i32 %a
; CHECK: %b = tail call i32 @tail
; CHECK-NEXT: ret i32 %b
  br i1 %c, label %l, label %r
l:
  %a = tail call i32 @other(i32 %x)
  br label %common.ret
r:
  %b = tail call i32 @tail(i32 %x)
  br label %common.ret
common.ret:
  %v = phi i32 [ %a, %l ], [ %b, %r ]
  ret i32 %v
}

define double @pure(double %x) {
; CHECK-LABEL: define double @pure(
; CHECK: %a = call double @sqrt
; CHECK-NOT: load ptr, ptr @__contech_tls
; CHECK: ret double
  %a = call double @sqrt(double %x)
  ret double %a
}

; `log` of the program, not of the library: the prototype tells.
define i32 @own_log(ptr %s) {
; CHECK-LABEL: define i32 @own_log(
; CHECK: %a = call i32 @log
; CHECK-NEXT: load ptr, ptr @__contech_tls
  %a = call i32 @log(ptr %s)
  %b = add i32 %a, 1
  ret i32 %b
}

define void @never() {
; CHECK-LABEL: define void @never(
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: call void @stop
; CHECK-NEXT: unreachable
  call void @stop()
  unreachable
}
