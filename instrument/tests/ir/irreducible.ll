; A cycle with two entries is checked as often as any other; code that ends a cycle is not.

define i32 @two_entries(i1 %c, i32 %n) {
; CHECK-LABEL: define i32 @two_entries(
; CHECK-COUNT-2: call preserve_allcc ptr @__contech_flush_near(
; CHECK-NOT: call preserve_allcc
; CHECK: }
entry:
  br i1 %c, label %a, label %b
a:
  %x = phi i32 [ 0, %entry ], [ %y1, %b ]
  %x1 = add i32 %x, 1
  %stop = icmp sgt i32 %x1, %n
  br i1 %stop, label %out, label %b
b:
  %y = phi i32 [ 5, %entry ], [ %x1, %a ]
  %y1 = mul i32 %y, 3
  br label %a
out:
  ret i32 %x1
}
