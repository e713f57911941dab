"""All explanations under their concepts, each with the section of the card that it stands in."""

from __future__ import annotations

from collections.abc import Mapping

from clearformer.messages import Message
from clearformer.messages.card import Case, Explained
from clearformer.messages.card_experts import EXPERTS
from clearformer.messages.card_heads import HEADS, HEADS_CASES
from clearformer.messages.card_network import NETWORK, NETWORK_CASES
from clearformer.messages.card_output import OUTPUT
from clearformer.messages.card_positions import POSITIONS, POSITIONS_CASES
from clearformer.messages.card_rotary import ROTARY, ROTARY_CASES
from clearformer.messages.card_sight import SCORES, SIGHT
from clearformer.messages.card_stack import DEPTH, NORMS, NORMS_CASES
from clearformer.messages.card_tokens import MODEL, TOKENS
from clearformer.messages.card_training import BOOKKEEPING, TRAINING

BY_SECTION: Mapping[str, Mapping[str, Explained]] = {
    "model": MODEL,
    "tokens": TOKENS,
    "attention": {**HEADS, **SIGHT, **SCORES},
    "positions": {**POSITIONS, **ROTARY},
    "feedforward": {**NETWORK, **EXPERTS},
    "norms": NORMS,
    "depth": DEPTH,
    "output": OUTPUT,
    "training": TRAINING,
}
EXPLAINED = {concept: each for section in BY_SECTION.values() for concept, each in section.items()}
CASES: Mapping[str, Case] = {**HEADS_CASES, **POSITIONS_CASES, **ROTARY_CASES, **NETWORK_CASES, **NORMS_CASES}
HARMLESS: Mapping[str, Message] = BOOKKEEPING
SECTION_OF = {concept: name for name, section in BY_SECTION.items() for concept in section} | dict.fromkeys(
    BOOKKEEPING, "bookkeeping"
)
