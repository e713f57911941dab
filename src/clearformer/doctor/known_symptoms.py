"""The nine symptoms, in the order of docs/doctor.md."""

from __future__ import annotations

from clearformer.doctor.symptom import Symptom, Words
from clearformer.messages import doctor_symptoms as say

_LOSS: Words = (r"\bloss", "损失", "交叉熵", "cross.?entropy")
_GENERATES: Words = ("generat", "sampl", r"\boutput", "writes", "decod", "inference", "生成", "续写", "推理", "输出")
_GARBAGE: Words = (
    *("garbage", "nonsense", "gibberish", "rubbish", "babbl", "repeat", "useless", "incoheren", "wrong", "bad text"),
    *("乱码", "胡言", "胡说", "不通", "重复", "错乱", "垃圾", "没用", "不对"),
)
_WEIGHTS: Words = ("attention", r"weights?\b", "softmax", "注意力", "权重")
_MASK: Words = ("mask", "掩码", "遮")
CACHE: Words = ("cache", r"\bkv\b", "缓存", "incremental", "增量", "past_key")

SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        "1",
        say.TOO_GOOD,
        say.TOO_GOOD_TRUTH,
        ("K01", "K22", "K02", "K18", "K25", "K15", "K16", "K28"),
        (
            _GARBAGE,
            (
                r"near(ly)? (0|zero)",
                r"(→|to|at|is|almost|about|close to) ?(0|zero)\b",
                r"\b0\.0",
                r"\blow\b",
                r"\bloss.{0,30}(falls|drops)",
                "perfect",
                "接近 ?(0|零)",
                "近 ?(0|零)",
                "为 ?(0|零)",
                "很低",
                "降到 ?(0|零)",
                "很快下降",
                "完美",
            ),
        ),
        (_LOSS, _GENERATES, ("train", "训练")),
    ),
    Symptom(
        "2",
        say.STUCK,
        say.STUCK_TRUTH,
        ("R01", "R03", "K33", "K19", "K20", "K22", "K21", "K18", "R05"),
        (
            (
                r"\bln ?\(?v",
                r"log\(?vocab",
                "stuck",
                "plateau",
                r"(n't|not|never|won't) (really |ever )?(fall|decreas|go(es|ing)? down|mov|drop|improv|learn)",
                "constant",
                "flat",
                r"10\.8",
                "卡在",
                "不动",
                "不降",
                "不下降",
                "停在",
                "学不到",
                "没有下降",
                "不收敛",
            ),
        ),
        (_LOSS, ("train", "训练", "learn")),
    ),
    Symptom(
        "3",
        say.UNIFORM,
        say.UNIFORM_TRUTH,
        ("K18", "K21", "K03", "K19", "K12"),
        (
            (
                "uniform",
                r"\bequal",
                r"\b(all|about|nearly) the same",
                "attention (weights|maps|scores) (are|is) the same",
                "even(ly)?\\b",
                r"\bflat\b",
                "average",
                "1/n",
                "均匀",
                "都(一样|差不多)",
                "几乎相等",
                "平均",
            ),
        ),
        (_WEIGHTS, ("rows?", "每行", "行")),
        ("clearformer attention smollm2-135m 'The cat sat on the mat'",),
    ),
    Symptom(
        "4",
        say.ONE_HOT,
        say.ONE_HOT_TRUTH,
        ("K18", "K21", "R05", "K19", "K02"),
        (
            (
                "one.?hot",
                "saturat",
                "peaked",
                "spik(y|ed) attention",
                "collaps",
                "all on one",
                "独热",
                "饱和",
                "集中在一个",
                "尖锐",
            ),
        ),
        (_WEIGHTS, ("gradients? (vanish|is zero|are zero|disappear|die)", "vanish", "梯度消失", "梯度为 ?0")),
        ("clearformer demo 3",),
    ),
    Symptom(
        "5",
        say.NAN,
        say.NAN_TRUTH,
        ("K12", "K24", "K23", "K18", "K08", "R02", "R05"),
        ((r"\bnans?\b", r"\binf(inity|inite|s)?\b", "not a number", "overflow", "非数", "无穷", "溢出"),),
        (_LOSS, ("gradient", "梯度"), ("fp16|half|bf16|半精度",)),
    ),
    Symptom(
        "6",
        say.VIEW,
        say.VIEW_TRUTH,
        ("K38", "K01", "K05", "K18", "K09"),
        ((r"\.?view\b", "contiguous", "stride", "不连续", "reshape", "连续"),),
        (
            ("error", "raise", "runtimeerror", "报错", "错误", "异常"),
            ("transpose", "permute", "转置"),
            ("merge|heads", "合头"),
        ),
    ),
    Symptom(
        "7",
        say.SLOWER,
        say.SLOWER_TRUTH,
        ("K37", "K15"),
        (
            (
                "slow",
                r"speed (drops|falls|decreases)",
                "longer and longer",
                "quadratic",
                "takes more and more",
                "越来越慢",
                "变慢",
                "越生成越慢",
                "很慢",
            ),
        ),
        (_GENERATES, CACHE, ("memory (grow|ris|increas)", "显存", "内存")),
        ("clearformer bench cache",),
    ),
    Symptom(
        "8",
        say.GARBLED,
        say.GARBLED_TRUTH,
        ("K15", "K37", "K14", "K16", "K10"),
        (
            CACHE,
            ("step by step", "one (token )?at a time", "token by token", "use_cache", "逐个", "一步一步", "逐词元"),
        ),
        (_GENERATES, _GARBAGE, ("differ", "不同", "不一致"), ("position", "offset", "位置", "错位")),
    ),
    Symptom(
        "9",
        say.BATCHED,
        say.BATCHED_TRUTH,
        ("K06", "K09", "K10", "K11", "K23", "K24", "K17", "K16"),
        (
            ("batch", "批"),
            ("left.?pad", "左(侧|边)?(填充|补齐)"),
            ("pad", "填充", "补齐", "short(er)? (sentence|sequence|row)", "短句", "different length", "长度不同"),
        ),
        (("depend", "change", "influence", "affect", "differ", "影响", "改变", "不同", "不一样"), _MASK),
    ),
)
