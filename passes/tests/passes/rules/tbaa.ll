; Struct-path TBAA names the field where no GEP does; a scalar tag names nothing. A GEP wins over TBAA.
; RUN: extract CHECK
source_filename = "tbaa.c"
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

%struct.item = type { i64, i32 }

define void @f(ptr %p, ptr %q) {
  store i64 1, ptr %p, align 8, !tbaa !0
  store i32 1, ptr %q, align 4, !tbaa !6
  store i32 1, ptr %q, align 4, !tbaa !8
  %g = getelementptr inbounds %struct.item, ptr %p, i64 0, i32 1
  store i32 1, ptr %g, align 4, !tbaa !8
  ret void
}
; CHECK:      function f
; CHECK-NEXT: n0 block -> n1
; CHECK-NEXT: n1 write item::+0 -> n2
; CHECK-NEXT: n2 write *s{{[0-9a-f]+}} -> n3
; CHECK-NEXT: n3 write ns::Shape::+8 -> n4
; CHECK-NEXT: n4 write item::+8 -> n5

!0 = !{!1, !2, i64 0}
!1 = !{!"item", !2, i64 0, !5, i64 8}
!2 = !{!"long", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{!"int", !3, i64 0}
!6 = !{!5, !5, i64 0}
!8 = !{!9, !5, i64 8}
!9 = !{!"_ZTSN2ns5ShapeE", !2, i64 0, !5, i64 8}
