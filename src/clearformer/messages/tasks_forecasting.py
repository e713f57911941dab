"""What the forecasting task refuses, and the words of its picture."""

from __future__ import annotations

from clearformer.messages import Message, failure

NO_DATA = failure(
    en=("The recipe names no series.", "Give --data: a CSV file, or ett or sine."),
    zh=("配方没有指明序列数据。", "请给出 --data：CSV 文件，或 ett、sine。"),
)
OTHERS_NEED_MIXING = failure(
    en=(
        "Other columns and calendar features help only a model that mixes channels; this one reads each channel alone.",
        "Set --model.independent false, or leave --data.others and --data.calendar at false.",
    ),
    zh=(
        "其他列与日历特征只对混合通道的模型有用；当前模型逐通道独立读取。",
        "请设 --model.independent false，或保持 --data.others 与 --data.calendar 为 false。",
    ),
)
OTHERS_NEED_TARGET = failure(
    en=(
        "Every column is forecast already, so there are no others to read.",
        "Name one column by --target, or leave --data.others out.",
    ),
    zh=("所有列都已在预测之列，没有其他列可读。", "请用 --target 指定一列，或不使用 --data.others。"),
)
NUMBERS_TOO_LARGE = failure(
    en=("{path} holds numbers up to {found}, too large to compute with.", "Write the table in larger units."),
    zh=("{path} 中的数最大达 {found}，大到无法计算。", "请换用更大的单位书写该表。"),
)
NO_CALENDAR = failure(
    en=(
        "{path} has no column of dates, which calendar features need.",
        "Add dates as its first column, or leave --data.calendar out.",
    ),
    zh=("{path} 没有日历特征所需的日期列。", "请把日期加为第一列，或不使用 --data.calendar。"),
)
PATCH_PAST_LOOKBACK = failure(
    en=(
        "A patch of {patch} steps does not fit into a look-back of {lookback}.",
        "Lower --model.patch or raise --data.lookback.",
    ),
    zh=("{patch} 步的分块放不进 {lookback} 步的回看窗口。", "请减小 --model.patch 或增大 --data.lookback。"),
)
BAD_FACTS = failure(
    en=(
        "{path} does not say how the model's series are read: {detail}.",
        "Train again, or restore the run folder from its original.",
    ),
    zh=("{path} 没有说明模型如何读取序列：{detail}。", "请重新训练，或从原件恢复运行文件夹。"),
)
OTHER_COLUMNS = failure(
    en=(
        "The model was trained on the columns {expected}; the data now give {found}.",
        "Give a table with the columns of training.",
    ),
    zh=("模型在列 {expected} 上训练；现在的数据是 {found}。", "请提供与训练时相同的列。"),
)
SHORT_HISTORY = failure(
    en=(
        "A forecast reads the last {expected} rows; the table has {found}.",
        "Give at least {expected} rows of history.",
    ),
    zh=("预测需读取最后 {expected} 行；表格只有 {found} 行。", "请至少给出 {expected} 行历史。"),
)
OTHER_STEP = failure(
    en=(
        "The model was trained on rows {expected} apart; these are {found} apart.",
        "Give rows at the step of training.",
    ),
    zh=("模型训练时行间隔为 {expected}；现在的间隔是 {found}。", "请按训练时的间隔给出数据。"),
)
NO_DATES = failure(
    en=("The model reads the calendar; the table has no dates.", "Give a table with dates in its first column."),
    zh=("模型会读取日历；表格没有日期。", "请提供首列为日期的表格。"),
)
HISTORY = Message("history", "历史")
TRUTH = Message("truth", "真实值")
FORECAST = Message("forecast", "预测")
ROWS = Message("row", "行")
