; A loop keeps the cursor in a register and checks for room once per iteration, on the back-edge.

; CHECK: @__contech_tls = external thread_local(initialexec) global [256 x i8]
; CHECK: @__contech_ids = private global [3 x i8] zeroinitializer, no_sanitize_address, align 1

define i32 @sum(ptr %a, i64 %n) {
; CHECK-LABEL: define i32 @sum(
; CHECK-NOT: alloca
; CHECK: [[AT:%.*]] = load ptr, ptr @__contech_tls
; CHECK: [[LIMIT:%.*]] = load ptr, ptr getelementptr (i8, ptr @__contech_tls, i64 8)
; CHECK: [[FULL:%.*]] = icmp uge ptr [[AT]], [[LIMIT]]
; CHECK: br i1 [[FULL]], label %[[SLOW:.*]], label %[[GO:.*]], !prof
; CHECK: [[SLOW]]:
; CHECK: [[NEW:%.*]] = call preserve_allcc ptr @__contech_flush_near(ptr [[AT]])
; CHECK: [[GO]]:
; CHECK: [[C0:%.*]] = phi ptr [ [[NEW]], %[[SLOW]] ], [ [[AT]], %entry ]
; CHECK: store ptr @__contech_ids, ptr [[C0]], align 1
; CHECK: [[C1:%.*]] = getelementptr i8, ptr [[C0]], i64 4
entry:
  br label %loop

; CHECK: loop:
; CHECK: [[C2:%.*]] = phi ptr [ [[C1]], %[[GO]] ], [ {{%.*}}, %{{.*}} ]
; CHECK-NOT: __contech_tls
; CHECK: store ptr %p, ptr [[C2]], align 1
; CHECK-NEXT: [[C3:%.*]] = getelementptr i8, ptr [[C2]], i64 6
; CHECK-NEXT: %v = load i32, ptr %p
; CHECK: store ptr getelementptr (i8, ptr @__contech_ids, i64 1), ptr [[C3]], align 1
; CHECK-NEXT: [[C4:%.*]] = getelementptr i8, ptr [[C3]], i64 4
; CHECK: icmp uge ptr [[C4]], {{%.*}}
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi i32 [ 0, %entry ], [ %s1, %loop ]
  %p = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %p
  %s1 = add i32 %s, %v
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %n
  br i1 %more, label %loop, label %exit

; CHECK: exit:
; CHECK-NOT: icmp
; CHECK: store ptr getelementptr (i8, ptr @__contech_ids, i64 2)
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: ret i32
exit:
  ret i32 %s1
}
