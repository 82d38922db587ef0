; Both ends of an invoke read the cursor back; unwinding on stores it.

declare i32 @__gxx_personality_v0(...)
declare i32 @may_throw()

define i32 @catches(i1 %c) personality ptr @__gxx_personality_v0 {
; CHECK-LABEL: define i32 @catches(
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: %v = invoke i32 @may_throw()
; CHECK-NEXT: to label %[[EDGE:.*]] unwind label %pad
; CHECK: [[EDGE]]:
; CHECK-NEXT: load ptr, ptr @__contech_tls
; CHECK: br label %join
; CHECK: pad:
; CHECK-NEXT: landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: [[D:%.*]] = load ptr, ptr @__contech_tls
; CHECK: icmp uge ptr [[D]]
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: resume
entry:
  br i1 %c, label %call, label %join
call:
  %v = invoke i32 @may_throw() to label %join unwind label %pad
join:
  %r = phi i32 [ 0, %entry ], [ %v, %call ]
  ret i32 %r
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}
