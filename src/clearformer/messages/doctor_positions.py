"""The laws of positions: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

ORDER = Message(
    "The order of the tokens matters, and a table of positions is what it matters by.",
    "词元的次序有影响，且由位置表体现。",
)
ORDER_RISK = Message(
    "Without positions two causal layers still tell orders apart, and a set has none: told as a warning.",
    "没有位置时，两层因果注意力仍能区分次序，而集合本无次序：只作警告。",
)
NO_IDS = Message(
    "The module takes vectors, and positions may come from outside.",
    "模块接收向量，位置可能由外部加入。",
)
ORDER_UNSEEN = Message(
    "the tokens in another order get the same answers",
    "词元换了次序，输出依旧相同",
)
TABLE_UNUSED = Message(
    "of the table {table} {used} rows are used for {length} positions",
    "{length} 个位置只用到了表 {table} 的 {used} 行",
)
OFFSET = Message(
    "Relative positions, all moved on by the same number, change nothing.",
    "相对位置整体平移后，输出不变。",
)
OFFSET_RISK = Message(
    "Absolute positions and angles that are scaled by length move by design, and are left out.",
    "绝对位置与按长度缩放的角度本就会变，不在此列。",
)
NO_POSITIONS_ARGUMENT = Message(
    "The module takes no positions.",
    "模块不接收位置。",
)
SCALED_BY_LENGTH = Message(
    "The angles are scaled by length, by design.",
    "角度按长度缩放，本就如此。",
)
ABSOLUTE = Message(
    "The positions are absolute.",
    "位置是绝对的。",
)
TABLE_ENDS = Message(
    "The positions come from a table that ends before the shift.",
    "位置取自一张表，平移后超出了范围。",
)
POSITIONS_IGNORED = Message(
    "positions in another order change nothing",
    "位置换了次序，输出依旧不变",
)
NOT_BY_DISTANCE = Message(
    "positions act between tokens only, and not by their distance: moved on by one, answers move by {near:.2g} of their "
    "spread",
    "位置只在词元之间起作用，却并非取决于距离：平移一个位置，输出变动为其离散度的 {near:.2g}",
)
SIDES = {"query": Message("queries", "查询"), "key": Message("keys", "键")}
ONE_TURNED = Message(
    "of one token, repeated, the {side} differ from place to place and the other side does not",
    "同一词元反复出现时，只有{side}随位置变化，另一侧不变",
)
VALUES_TURNED = Message(
    "of one token, repeated, the values differ from place to place by a turn",
    "同一词元反复出现时，值随位置旋转",
)
TURNED_APART = Message(
    "of one token, repeated, query times key is not the same along a diagonal, though both are turned",
    "同一词元反复出现时，查询与键都被旋转，但二者的乘积沿对角线并不相同",
)
TURNED_UNEVENLY = Message(
    "of one token, repeated, query times key is not the same along a diagonal, and turning changes their length",
    "同一词元反复出现时，查询与键的乘积沿对角线并不相同，且旋转改变了向量长度",
)
SHIFT_MOVES = Message(
    "moved on by {shift} positions, the answers move by {apart:.2g} of their spread; by one position, {near:.2g}",
    "平移 {shift} 个位置，输出变动为其离散度的 {apart:.2g}；平移一个位置为 {near:.2g}",
)
