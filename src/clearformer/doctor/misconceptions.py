"""The twelve misconceptions: no faults in themselves, and each refuted by a check or a command."""

from __future__ import annotations

from clearformer.doctor.known_symptoms import CACHE
from clearformer.doctor.symptom import Symptom
from clearformer.messages import doctor_symptoms as say

MISCONCEPTIONS: tuple[Symptom, ...] = (
    Symptom(
        "m1",
        say.M1,
        say.M1_TRUTH,
        (),
        (
            (
                "attention (itself )?(has|have|got) (no |any )?(parameters|weights)",
                "parameters (of|in) attention",
                "注意力(机制|本身)?(有|没有|的|有没有|是否有)参数",
            ),
        ),
        commands=("clearformer cost transformer-base", "clearformer trace transformer-base --layer 0"),
    ),
    Symptom(
        "m2",
        say.M2,
        say.M2_TRUTH,
        (),
        (("loop.*heads?", "heads?.*loop", "for each head", "循环.*头", "头.*循环"),),
        commands=("clearformer trace transformer-base --layer 0", "clearformer demo 5"),
    ),
    Symptom(
        "m3",
        say.M3,
        say.M3_TRUTH,
        ("K18", "K01"),
        (
            (
                "softmax.*(column|quer|dim|axis|rows?)",
                "(column|axis|dim).*softmax",
                "softmax.*(列|轴|维|行)",
                "归一化.*(列|轴)",
            ),
        ),
    ),
    Symptom(
        "m4",
        say.M4,
        say.M4_TRUTH,
        ("K18", "K01", "K02"),
        (
            (
                "mask.*(fill|with|by|set).*(0|zero)",
                "(fill|set).*(0|zero).*mask",
                r"(fill|set).*mask.*\b(0|zero)",
                "multipl.*mask",
                "mask.*multipl",
                "掩码.*(填|乘|置|设).*(0|零)",
                "mask.*填 ?(0|零)",
                "乘.*掩码",
            ),
        ),
        (("mask", "掩码", "遮"),),
    ),
    Symptom(
        "m5",
        say.M5,
        say.M5_TRUTH,
        ("K13",),
        (
            (
                "position(al)? (encod|embed).*(optional|need|necessary|without|matter)",
                "(no|without|drop|need).*position",
                "位置编码.*(可有可无|必要|需要|不要)",
                "(不需要|不用|不要|去掉|省略|需要)位置(编码|嵌入)",
                "词序",
            ),
        ),
        commands=("clearformer demo 4", "clearformer positions transformer-base"),
    ),
    Symptom(
        "m6",
        say.M6,
        say.M6_TRUTH,
        ("K18", "K21"),
        ((r"sqrt|√|square root|d_k|根号",),),
        (("overflow", "divid", "why", "scale", "溢出", "除以", "为什么", "缩放"),),
        ("clearformer demo 3",),
    ),
    Symptom(
        "m7",
        say.M7,
        say.M7_TRUTH,
        (),
        ((r"\bffn\b", "feed.?forward", r"\bmlp\b", "前馈"),),
        (("useless", "need", "why", "per token", "没用", "有什么用", "逐"),),
        ("clearformer cost transformer-base", "clearformer demo 7"),
    ),
    Symptom(
        "m8",
        say.M8,
        say.M8_TRUTH,
        ("K06", "K18"),
        (("batch.?norm", "批归一化", r"\bbn\b"),),
        (("layer.?norm", "层归一化"),),
        ("clearformer demo 6",),
    ),
    Symptom(
        "m9",
        say.M9,
        say.M9_TRUTH,
        ("K17", "K01"),
        (
            (
                "encoder.*decoder.*(same|alike|equal|differ|identical)",
                "(same|differ).*encoder.*decoder",
                "编码器.*解码器.*(一样|相同|区别)",
                "encoder.*decoder.*(一样|相同)",
            ),
        ),
        (("layer", "structure", "层", "结构"),),
        ("clearformer trace transformer-base --layer 0",),
    ),
    Symptom(
        "m10",
        say.M10,
        say.M10_TRUTH,
        ("K15", "K37"),
        (
            (
                "cache.*(approximat|quality|lossy|exact|worse|accura)",
                "(approximat|quality|lossy).*cache",
                "缓存.*(近似|质量|精度)",
                "cache.*(近似|质量)",
            ),
        ),
        (CACHE,),
        ("clearformer bench cache",),
    ),
    Symptom(
        "m11",
        say.M11,
        say.M11_TRUTH,
        ("K08",),
        (("flash", "sdpa", "闪存注意力"),),
        (("sparse", "approximat", "exact", "稀疏", "近似", "精确"),),
        ("clearformer bench attention",),
    ),
    Symptom(
        "m12",
        say.M12,
        say.M12_TRUTH,
        (),
        (
            (
                "(parameters?|params|model size).*(memory|vram|gpu|ram)",
                "(memory|vram).*(parameters?|params|model size)",
                "参数.*(显存|内存)",
                "(显存|内存).*参数",
                r"\b\d+(\.\d+)?b\b.*(memory|vram|gpu|显存|内存)",
                "模型.*(占|需要|多少).*(显存|内存)",
            ),
        ),
        (("memory", "vram", "显存", "内存"),),
        commands=("clearformer cost smollm2-135m --generate 512+128",),
    ),
)
