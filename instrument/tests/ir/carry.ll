; Between functions of one module the cursor is handed over in a register.

declare i32 @other(i32)
declare i32 @__gxx_personality_v0(...)

; Nobody else calls it: it takes the cursor and hands it back, and looks for it nowhere else.
define internal i32 @local(i32 %x) {
; CHECK-LABEL: define internal i32 @local(i32 %x, ptr swifterror %0)
; CHECK: [[C:%.*]] = load ptr, ptr %0
; CHECK: store ptr @__contech_ids, ptr
; CHECK-NOT: __contech_tls{{$}}
; CHECK: store ptr [[D:%.*]], ptr %0
; CHECK-NEXT: ret i32 %y
  %y = add i32 %x, 1
  ret i32 %y
}

define i32 @caller(i32 %x) {
; CHECK-LABEL: define i32 @caller(i32 %x)
; CHECK: [[S:%[0-9]+]] = alloca swifterror ptr
; CHECK: load ptr, ptr @__contech_tls
; CHECK: store ptr {{%.*}}, ptr [[S]]
; CHECK-NEXT: [[A:%.*]] = call i32 @local(i32 %x, ptr swifterror [[S]])
; CHECK-NEXT: load ptr, ptr [[S]]
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: [[B:%.*]] = call i32 @other(i32 [[A]])
; CHECK-NEXT: load ptr, ptr @__contech_tls
; CHECK: store ptr {{%.*}}, ptr @__contech_tls
; CHECK-NEXT: ret i32
  %a = call i32 @local(i32 %x)
  %b = call i32 @other(i32 %a)
  %c = add i32 %b, 1
  ret i32 %c
}

; Others may call it, by its name: that is a shell around the function that has its body.
define i32 @open(i32 %n) {
; CHECK-LABEL: define internal i32 @open.carried(i32 %n, ptr swifterror
; CHECK: call i32 @open.carried(i32 {{%.*}}, ptr swifterror
; CHECK-LABEL: define i32 @open(i32 %0)
; CHECK: [[C:%.*]] = load ptr, ptr @__contech_tls
; CHECK-NEXT: store ptr [[C]], ptr [[S:%[0-9]+]]
; CHECK-NEXT: [[R:%.*]] = call i32 @open.carried(i32 %0, ptr swifterror [[S]])
; CHECK-NEXT: [[D:%.*]] = load ptr, ptr [[S]]
; CHECK-NEXT: store ptr [[D]], ptr @__contech_tls
; CHECK-NEXT: ret i32 [[R]]
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %r = call i32 @open(i32 %m)
  %s = add i32 %r, 1
  br label %end
end:
  %v = phi i32 [ 0, %0 ], [ %s, %more ]
  ret i32 %v
}

; What unwinds has left the cursor in thread-local storage.
define i32 @catches(i32 %x) personality ptr @__gxx_personality_v0 {
; CHECK-LABEL: define i32 @catches(
; CHECK: store ptr {{%.*}}, ptr [[S:%[0-9]+]]
; CHECK-NEXT: invoke i32 @local(i32 %x, ptr swifterror [[S]])
; CHECK: normal:
; CHECK-NEXT: load ptr, ptr [[S]]
; CHECK: pad:
; CHECK-NEXT: landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: load ptr, ptr @__contech_tls
  %a = invoke i32 @local(i32 %x) to label %normal unwind label %pad
normal:
  ret i32 %a
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; A function that takes the cursor makes no tail calls: not for those on a cycle of them.
define internal i32 @even(i32 %n) {
; CHECK-LABEL: define internal i32 @even(i32 %n)
; CHECK: tail call i32 @odd(i32
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %r = tail call i32 @odd(i32 %m)
  ret i32 %r
end:
  ret i32 1
}

define i32 @odd(i32 %n) {
; CHECK-LABEL: define i32 @odd(i32 %n)
; CHECK: tail call i32 @even(i32
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %r = tail call i32 @even(i32 %m)
  ret i32 %r
end:
  ret i32 0
}
