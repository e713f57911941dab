"""What the doctor says where it cannot find out how a callable beside the module is to be called."""

from __future__ import annotations

from clearformer.messages import Message

NOT_UNDERSTOOD = Message(
    "No known form of --{part} worked. Tried and seen: {tried}. docs/doctor.md lists the forms.",
    "--{part} 的已知形式均不可用。试过的形式与所见：{tried}。形式清单见 docs/doctor.md。",
)
