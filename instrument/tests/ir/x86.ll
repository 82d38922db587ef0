; Masks and addresses that x86 intrinsics compute by themselves are computed to be recorded.

declare <4 x float> @llvm.x86.avx.maskload.ps(ptr, <4 x i32>)
declare void @llvm.x86.avx.maskstore.pd.256(ptr, <4 x i64>, <4 x double>)
declare <4 x float> @llvm.x86.avx2.gather.q.ps(<4 x float>, ptr, <2 x i64>, <4 x float>, i8)
declare void @llvm.x86.avx512.mask.scatterdiv4.si(ptr, <2 x i1>, <2 x i64>, <4 x i32>, i32)
declare <8 x i64> @llvm.x86.avx512.gather.dpq.512(<8 x i64>, ptr, <8 x i32>, i8, i32)
declare void @llvm.x86.avx512.mask.pmov.qb.mem.128(ptr, <2 x i64>, i8)
declare void @llvm.x86.sse2.maskmov.dqu(<16 x i8>, <16 x i8>, ptr)
declare <32 x i8> @llvm.x86.avx.ldu.dq.256(ptr)
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.movdir64b(ptr, ptr)
declare void @llvm.x86.sse2.clflush(ptr)

define <4 x float> @load(ptr %p, <4 x i32> %m) {
; CHECK-LABEL: define <4 x float> @load(
; CHECK: [[M:%.*]] = icmp slt <4 x i32> %m, zeroinitializer
; CHECK: store ptr %p, ptr
; CHECK: [[B:%.*]] = bitcast <4 x i1> [[M]] to i4
; CHECK: [[W:%.*]] = zext i4 [[B]] to i64
; CHECK: store i64 [[W]], ptr
; CHECK-NEXT: getelementptr i8, ptr {{%.*}}, i64 14
; CHECK-NEXT: %v = call <4 x float> @llvm.x86.avx.maskload.ps(ptr %p, <4 x i32> %m)
  %v = call <4 x float> @llvm.x86.avx.maskload.ps(ptr %p, <4 x i32> %m)
  ret <4 x float> %v
}

define void @store(ptr %p, <4 x i64> %m, <4 x double> %v) {
; CHECK-LABEL: define void @store(
; CHECK: icmp slt <4 x i64> %m, zeroinitializer
; CHECK: store ptr %p, ptr
; CHECK: call void @llvm.x86.avx.maskstore
  call void @llvm.x86.avx.maskstore.pd.256(ptr %p, <4 x i64> %m, <4 x double> %v)
  ret void
}

define <4 x float> @gather(ptr %p, <2 x i64> %i, <4 x float> %m) {
; CHECK-LABEL: define <4 x float> @gather(
; CHECK: [[A:%.*]] = getelementptr [4 x i8], ptr %p, <2 x i64> %i
; CHECK: [[C:%.*]] = bitcast <4 x float> %m to <4 x i32>
; CHECK: [[S:%.*]] = icmp slt <4 x i32> [[C]], zeroinitializer
; CHECK: [[M:%.*]] = shufflevector <4 x i1> [[S]], <4 x i1> poison, <2 x i32> <i32 0, i32 1>
; CHECK: bitcast <2 x i1> [[M]] to i2
; CHECK: extractelement <2 x ptr> [[A]], i32 0
; CHECK: extractelement <2 x ptr> [[A]], i32 1
; CHECK: call <4 x float> @llvm.x86.avx2.gather.q.ps(
  %v = call <4 x float> @llvm.x86.avx2.gather.q.ps(<4 x float> zeroinitializer, ptr %p, <2 x i64> %i, <4 x float> %m, i8 4)
  ret <4 x float> %v
}

define void @scatter(ptr %p, <2 x i1> %m, <2 x i64> %i, <4 x i32> %v) {
; CHECK-LABEL: define void @scatter(
; CHECK: [[A:%.*]] = getelementptr [8 x i8], ptr %p, <2 x i64> %i
; CHECK: bitcast <2 x i1> %m to i2
; CHECK: extractelement <2 x ptr> [[A]], i32 0
; CHECK: extractelement <2 x ptr> [[A]], i32 1
; CHECK-NOT: extractelement
; CHECK: call void @llvm.x86.avx512.mask.scatterdiv4.si(
  call void @llvm.x86.avx512.mask.scatterdiv4.si(ptr %p, <2 x i1> %m, <2 x i64> %i, <4 x i32> %v, i32 8)
  ret void
}

define <8 x i64> @wide(ptr %p, <8 x i32> %i, i8 %m) {
; CHECK-LABEL: define <8 x i64> @wide(
; CHECK: getelementptr [1 x i8], ptr %p, <8 x i32> %i
; CHECK: bitcast i8 %m to <8 x i1>
; CHECK: extractelement <8 x ptr> {{%.*}}, i32 7
  %v = call <8 x i64> @llvm.x86.avx512.gather.dpq.512(<8 x i64> zeroinitializer, ptr %p, <8 x i32> %i, i8 %m, i32 1)
  ret <8 x i64> %v
}

define void @narrow(ptr %p, <2 x i64> %v, i8 %m) {
; CHECK-LABEL: define void @narrow(
; CHECK: [[B:%.*]] = bitcast i8 %m to <8 x i1>
; CHECK: shufflevector <8 x i1> [[B]], <8 x i1> poison, <2 x i32> <i32 0, i32 1>
  call void @llvm.x86.avx512.mask.pmov.qb.mem.128(ptr %p, <2 x i64> %v, i8 %m)
  ret void
}

define void @others(ptr %p, ptr %q, <16 x i8> %v, <16 x i8> %m) {
; CHECK-LABEL: define void @others(
; CHECK: icmp slt <16 x i8> %m, zeroinitializer
  call void @llvm.x86.sse2.maskmov.dqu(<16 x i8> %v, <16 x i8> %m, ptr %p)
  %w = call <32 x i8> @llvm.x86.avx.ldu.dq.256(ptr %p)
  call void @llvm.x86.sse.stmxcsr(ptr %p)
  call void @llvm.x86.movdir64b(ptr %p, ptr %q)
  call void @llvm.x86.sse2.clflush(ptr %q)
  ret void
}
