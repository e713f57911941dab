"""What is said of a user's own experiment, a small YAML."""

from __future__ import annotations

from clearformer.messages import Message, failure

ABOUT = Message("The arms of {path}.", "{path} 中的各组。")
UNKNOWN_FIELD = failure(
    en=("{path}: an experiment has no field {found}.{hint}", "Its fields are {expected}."),
    zh=("{path}：实验没有字段 {found}。{hint}", "可用的字段：{expected}。"),
)
WRONG_KIND = failure(
    en=("{path}: {field} must be {expected}; found {found}.", "Mend the file there."),
    zh=("{path}：{field} 应为{expected}；实际是 {found}。", "请修正文件的该处。"),
)
MAPPING = Message("names with values", "名称与值的对应")
WORD, WHOLE, YES_OR_NO = (
    Message("a word", "一个词"),
    Message("a whole number", "整数"),
    Message("true or false", " true 或 false"),
)
LIST = Message("a list", "列表")
RECIPE = Message("a recipe, or the name of a recipe file beside it", "一份配方，或旁边配方文件的文件名")
ARMS_COUNT = failure(
    en=(
        "{path} has {found}; expected 2 to {most}.",
        "Give each arm a name and its changes under arms; {{}} changes nothing.",
    ),
    zh=("{path} 有 {found}；应为 2 到 {most} 组。", "请在 arms 下为每组写明名称与改动；{{}} 表示不改动。"),
)
SAME_NAMES = failure(
    en=("{path}: the arms {one} and {other} differ in case alone.", "Rename one: some disks hold both as one file."),
    zh=("{path}：组 {one} 与 {other} 仅大小写不同。", "请给其中一个改名：有些磁盘会把两者当作同一个文件。"),
)
BAD_NAME = failure(
    en=(
        "{path}: expected a name of at most 40 letters, digits, dots, single hyphens and underscores, found {found}.",
        "Rename it: it becomes part of a file's name.",
    ),
    zh=(
        "{path}：名称应为至多 40 个字母、数字、点、单个连字符或下划线；实际是 {found}。",
        "请改名：它会成为文件名的一部分。",
    ),
)
LAB_DECIDES = failure(
    en=(
        "{path}: the arm {arm} sets {found}, which must be the same for all arms.",
        "Take it out, or set it in the recipe.",
    ),
    zh=("{path}：组 {arm} 设置了 {found}，而各组的这一项必须相同。", "请删去，或写在配方中。"),
)
OUTSIDE = failure(
    en=(
        "{path} names the recipe {found}, which lies outside its own folder.",
        "Copy the recipe beside the experiment.",
    ),
    zh=("{path} 引用的配方 {found} 位于其文件夹之外。", "请把配方复制到实验文件旁边。"),
)
NOT_TEXT = failure(
    en=("{path} is no UTF-8 text from byte {at} on.", "Give an experiment as YAML in UTF-8."),
    zh=("{path} 自第 {at} 字节起不是 UTF-8 文本。", "请给出 UTF-8 编码的 YAML 实验文件。"),
)
NOT_YAML = failure(
    en=("{path} is no YAML: {detail}.", "Mend the file there."),
    zh=("{path} 不是 YAML：{detail}。", "请修正文件的该处。"),
)
ALIAS = failure(
    en=("{path}, line {line}: expected values written out, found an alias (*).", "Write the value out there."),
    zh=("{path} 第 {line} 行：各值须写明，实际用了别名（*）。", "请在该处直接写出值。"),
)
TOO_DEEP = failure(
    en=("{path}, line {line}: nested more than {most} deep.", "An experiment needs no such depth; write it flat."),
    zh=("{path} 第 {line} 行：嵌套超过 {most} 层。", "实验文件不需要这样的深度；请写得平一些。"),
)
UNKNOWN_FACT = failure(
    en=("{path}: arms cannot be held to equal {found}.{hint}", "Choose among {expected}."),
    zh=("{path}：不能要求各组的 {found} 相等。{hint}", "请从 {expected} 中选择。"),
)
NO_SPEC_FIELD = failure(
    en=("spec.{name}: there is no {found} in that place.{hint}", "There are {expected}."),
    zh=("spec.{name}：该处没有 {found}。{hint}", "该处有 {expected}。"),
)
NO_PLACE = failure(
    en=("spec.{name}: {found} is no place in that list.", "Give 0 to {last}, or * for all."),
    zh=("spec.{name}：{found} 不是该列表中的位置。", "请给出 0 到 {last}，或用 * 表示全部。"),
)
NO_FIGURE = failure(
    en=("The task measures no {found}.{hint}", "It measures {expected}."),
    zh=("该任务不测量 {found}。{hint}", "可用的指标：{expected}。"),
)
