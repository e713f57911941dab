"""The paper's attention in configs: a number of heads that share the width evenly (Vaswani et al. 2017, section 3.2.2).

Each has keys and values of its own; what a family adds to it, its own file says.
"""

from __future__ import annotations

from clearformer.families.config_reader import ConfigReader
from clearformer.messages import families as say
from clearformer.spec import Attention

COMMON = ("hidden_size", "num_attention_heads")
"""The keys of width and heads in most configs."""


def multi_head(config: ConfigReader, width: int, heads: int, keys: tuple[str, str] = COMMON) -> Attention:
    """Plain attention of `heads` heads; `keys` are those that said the width and the heads, for the message."""
    require_even_split(config, width, heads, keys)
    return Attention(heads, heads, width // heads, width // heads)


def read_multi_head(config: ConfigReader, keys: tuple[str, str] = COMMON) -> tuple[int, Attention]:
    """The width and its attention, both keys required."""
    width, heads = config.whole(keys[0]), config.whole(keys[1])
    return width, multi_head(config, width, heads, keys)


def require_even_split(config: ConfigReader, width: int, heads: int, keys: tuple[str, str] = COMMON) -> None:
    if width % heads:
        config.contradiction(*keys, say.HEADS_DO_NOT_DIVIDE_WIDTH)
