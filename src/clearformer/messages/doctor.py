"""What the doctor says about an examination as a whole: how the module is called, what was not checked and why."""

from __future__ import annotations

from clearformer.messages import Message, failure

NOT_HEALTHY = failure(
    en=("{count} laws are broken, first: {cause}. {evidence}.", "Run `clearformer doctor` for the mend."),
    zh=("有 {count} 条定律不成立，首要原因：{cause}。{evidence}。", "请运行 `clearformer doctor` 查看修复办法。"),
)
CALLED = Message("The module is called as {how}.", "模块的调用方式为 {how}。")

# Why a check was not made
NEEDS = {
    "model": Message("No module was handed in.", "没有交入模块。"),
    "loss": Message(
        "No loss was handed in (--loss my_train.py:loss).", "没有交入损失函数（--loss my_train.py:loss）。"
    ),
    "collate": Message("No collator was handed in (--collate).", "没有交入整批函数（--collate）。"),
    "tokenizer": Message("No tokenizer was handed in (--tokenizer).", "没有交入分词器（--tokenizer）。"),
    "generate": Message("No generating function was handed in (--generate).", "没有交入生成函数（--generate）。"),
    "sample": Message("No sampling function was handed in (--sample).", "没有交入采样函数（--sample）。"),
    "penalise": Message("No repetition penalty was handed in (--penalise).", "没有交入重复惩罚函数（--penalise）。"),
    "beam": Message("No beam search was handed in (--beam).", "没有交入束搜索函数（--beam）。"),
    "train": Message("No training loop was handed in (--train).", "没有交入训练循环（--train）。"),
    "resume": Message("No resumable training was handed in (--resume).", "没有交入可续训的训练函数（--resume）。"),
    "loader": Message("No loader was handed in (--loader).", "没有交入数据加载器（--loader）。"),
    "forecast": Message("No forecasting pipeline was handed in (--forecast).", "没有交入预测流程（--forecast）。"),
    "folder": Message("No folder of a checkpoint or run was given.", "没有给出检查点或训练的文件夹。"),
    "reference": Message("No reference module was handed in (--reference).", "没有交入参照模块（--reference）。"),
}
ONLY_RAISES = Message("The module gives no answer, it raises (K38).", "模块没有给出结果，而是引发错误（K38）。")
OTHER_KIND = Message("It is no law of the kind {kind}.", "{kind} 没有这条定律。")
GATE_CLOSED = Message("{check} must hold first: it would echo here.", "{check} 须先成立，否则这里只会重复它的结论。")
NOT_QUICK = Message("Left out by --quick.", "--quick 略去了它。")
NO_TIME = Message("The time was used up.", "时间已用完。")
NOT_CALLED = Message("The module could not be called: {why}", "模块无法调用：{why}")
NOT_POSSIBLE = Message("It could not be made: {why}", "无法进行：{why}")
OTHER_LENGTHS = Message(
    "This probe needs other lengths than the module takes ({lengths}): it raised {kind}: {detail}",
    "这项检查需要模块不接受的长度（可接受：{lengths}）：引发了 {kind}：{detail}",
)
PROBE_RAISED = Message("The module raised {kind} under this probe: {detail}", "模块在这项检查下引发了 {kind}：{detail}")
