; An interpreter of computed gotos; @again is also reached by a branch.

define i32 @interpret(ptr %code, ptr %labels) {
entry:
  %first = load ptr, ptr %labels
  indirectbr ptr %first, [label %again, label %stop]
again:
  %at = phi ptr [ %code, %entry ], [ %next, %step ], [ %next, %again ]
  %op = load i32, ptr %at
  %next = getelementptr i32, ptr %at, i64 1
  %more = icmp ne i32 %op, 0
  br i1 %more, label %again, label %step
step:
  %slot = getelementptr ptr, ptr %labels, i32 %op
  %to = load ptr, ptr %slot
  indirectbr ptr %to, [label %again, label %stop]
stop:
  ret i32 0
}
