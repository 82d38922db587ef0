; Every kind of memory operation writes the operands its kind declares.

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i32(ptr, i8, i32, i1)
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
declare void @llvm.masked.scatter.v2i64.v2p0(<2 x i64>, <2 x ptr>, <2 x i1>)
declare ptr @memmove(ptr, ptr, i64)

define void @copy(ptr %d, ptr %s, i64 %n) {
; CHECK-LABEL: define void @copy(
; CHECK: store ptr %d, ptr [[B:%.*]], align 1
; CHECK: [[B6:%.*]] = getelementptr i8, ptr [[B]], i64 6
; CHECK: store ptr %s, ptr [[B6]], align 1
; CHECK: [[B12:%.*]] = getelementptr i8, ptr [[B]], i64 12
; CHECK: store i64 %n, ptr [[B12]], align 1
; CHECK-NEXT: call void @llvm.memcpy
; CHECK: [[B18:%.*]] = getelementptr i8, ptr [[B]], i64 18
; CHECK: store ptr %s, ptr [[B18]], align 1
; CHECK-NEXT: [[B24:%.*]] = getelementptr i8, ptr [[B]], i64 24
; CHECK-NEXT: store ptr %d, ptr [[B24]], align 1
; CHECK-NEXT: [[B30:%.*]] = getelementptr i8, ptr [[B]], i64 30
; CHECK-NEXT: %r = call ptr @memmove
; CHECK-NEXT: store ptr @__contech_ids, ptr [[B30]], align 1
; CHECK-NEXT: getelementptr i8, ptr [[B30]], i64 4
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  %r = call ptr @memmove(ptr %s, ptr %d, i64 32)
  ret void
}

define void @set(ptr %d, i32 %n) {
; CHECK-LABEL: define void @set(
; CHECK: store ptr %d, ptr [[B:%.*]], align 1
; CHECK: [[W:%.*]] = zext i32 %n to i64
; CHECK: store i64 [[W]], ptr
; CHECK-NEXT: getelementptr i8, ptr [[B]], i64 12
; CHECK-NEXT: call void @llvm.memset
  call void @llvm.memset.p0.i32(ptr %d, i8 0, i32 %n, i1 false)
  ret void
}

define <4 x i32> @masked(ptr %p, <4 x i1> %m) {
; CHECK-LABEL: define <4 x i32> @masked(
; CHECK: store ptr %p, ptr [[B:%.*]], align 1
; CHECK: [[I:%.*]] = bitcast <4 x i1> %m to i4
; CHECK: [[W:%.*]] = zext i4 [[I]] to i64
; CHECK: store i64 [[W]], ptr
; CHECK-NEXT: [[B14:%.*]] = getelementptr i8, ptr [[B]], i64 14
; CHECK-NEXT: %v = call <4 x i32> @llvm.masked.load
; CHECK: getelementptr i8, ptr [[B14]], i64 4
  %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %p, <4 x i1> %m, <4 x i32> zeroinitializer)
  ret <4 x i32> %v
}

define void @scatter(<2 x ptr> %p, <2 x i64> %v, <2 x i1> %m) {
; CHECK-LABEL: define void @scatter(
; CHECK: [[I:%.*]] = bitcast <2 x i1> %m to i2
; CHECK: zext i2 [[I]] to i64
; CHECK: [[P0:%.*]] = extractelement <2 x ptr> %p, i32 0
; CHECK: store ptr [[P0]]
; CHECK: [[P1:%.*]] = extractelement <2 x ptr> %p, i32 1
; CHECK: store ptr [[P1]]
; CHECK-NEXT: getelementptr i8, ptr {{%.*}}, i64 20
; CHECK-NEXT: call void @llvm.masked.scatter
  call void @llvm.masked.scatter.v2i64.v2p0(<2 x i64> %v, <2 x ptr> %p, <2 x i1> %m)
  ret void
}

define i32 @atomic(ptr %p) {
; CHECK-LABEL: define i32 @atomic(
; CHECK: store ptr %p, ptr
; CHECK-NEXT: getelementptr i8, ptr {{%.*}}, i64 6
; CHECK-NEXT: %a = atomicrmw add ptr %p
; CHECK: store ptr %p, ptr
; CHECK-NEXT: getelementptr i8, ptr {{%.*}}, i64 6
; CHECK-NEXT: %b = cmpxchg ptr %p
  %a = atomicrmw add ptr %p, i32 1 seq_cst
  %b = cmpxchg ptr %p, i32 %a, i32 0 seq_cst monotonic
  ret i32 %a
}
