"""The words around the doctor's findings: on the terminal, in the page, beside the progress."""

from __future__ import annotations

from clearformer.messages import Message

EVIDENCE = Message("evidence", "证据")
WHERE = Message("where", "位置")
CAUSE = Message("cause", "原因")
RIVALS = Message("or", "或者")
FIX = Message("mend", "修复")
CONFIRMED = Message("confirmed: with the mend in place the law holds", "已确认：就地修复后定律成立")
SUSPECTED = Message("suspected", "推测")
SEVERITIES = {
    "ERROR": Message("ERROR", "错误"),
    "WARN": Message("WARN", "警告"),
    "INFO": Message("INFO", "提示"),
}
PASSED = Message("Holds: {checks}", "成立：{checks}")
SKIPPED = Message("Not checked:", "未检查：")
FLOOR = Message("Noise floor, measured: {floor:.2g}.", "实测噪声下限：{floor:.2g}。")
HEALTHY = Message(
    "No law is broken. Laws that hold: {passed}; warnings: {warn}; remarks: {info}; not checked: {skipped}.",
    "没有定律被违反。{passed} 条成立，{warn} 条警告，{info} 条提示，{skipped} 条未检查。",
)
SICK = Message(
    "Errors: {error}; warnings: {warn}; remarks: {info}. Laws that hold: {passed}; not checked: {skipped}.",
    "{error} 个错误，{warn} 条警告，{info} 条提示；{passed} 条定律成立，{skipped} 条未检查。",
)
NOTHING_CHECKED = Message(
    "Nothing could be checked: all {skipped} checks were left out, for the reasons above.",
    "什么都没能检查：{skipped} 项检查全部略去，原因见上。",
)
WRITTEN = Message("Written: {path}", "已写入：{path}")
TITLE = Message("Diagnosis of {target}", "{target} 的诊断")
HEADINGS = (
    Message("check", "检查"),
    Message("severity", "程度"),
    Message("cause", "原因"),
    Message("evidence", "证据"),
)
PASSED_HEADING = Message("Laws that hold", "成立的定律")
SKIPPED_HEADING = Message("Not checked", "未检查")
NAMED = Message("{cause} ({state}). {meaning}", "{cause}（{state}）。{meaning}")
NAMED_ALONE = Message("{cause}. {meaning}", "{cause}。{meaning}")
