"""What a table of numbers over time can have wrong."""

from __future__ import annotations

from clearformer.messages import Message, failure

NO_FILE = failure(
    en=("There is no readable table at {path}: {detail}.", "Give a CSV file with a header, or a named set: ett, sine."),
    zh=("{path} 处没有可读的表格：{detail}。", "请给出带表头的 CSV 文件，或命名数据集：ett、sine。"),
)
NOT_TEXT = failure(
    en=("{path} is not UTF-8 text (byte {offset}).", "Save the table as CSV in UTF-8."),
    zh=("{path} 不是 UTF-8 文本（第 {offset} 字节）。", "请把表格存为 UTF-8 编码的 CSV。"),
)
EMPTY = failure(
    en=(
        "{path} holds {found} rows behind its header; expected at least 2.",
        "Give a CSV file with a header and rows of numbers.",
    ),
    zh=("{path} 表头之后有 {found} 行；至少应有 2 行。", "请给出带表头和数值行的 CSV 文件。"),
)
BAD_CSV = failure(
    en=("{path} line {line} is no CSV: {detail}.", "Save the table as plain CSV, one row a line."),
    zh=("{path} 第 {line} 行不是 CSV：{detail}。", "请把表格存为普通 CSV，每行一条记录。"),
)
UNEVEN_ROW = failure(
    en=("{path} line {line}: expected {expected} cells, found {found}.", "Give every row one cell a column."),
    zh=("{path} 第 {line} 行：应有 {expected} 个单元格，实际有 {found} 个。", "请让每行在每一列都有一个单元格。"),
)
NO_COLUMNS = failure(
    en=("{path} has no column of numbers beside its dates.", "Add a column of numbers, with its name in the header."),
    zh=("{path} 除日期外没有数值列。", "请加入一列数值，并在表头写上列名。"),
)
REPEATED_COLUMN = failure(
    en=("{path} has two columns called {found}.", "Give each column its own name in the header."),
    zh=("{path} 有两列都叫 {found}。", "请在表头给每一列不同的名字。"),
)
UNKNOWN_COLUMN = failure(
    en=("{path} has no column {found}; its columns are {expected}.{hint}", "Choose one of these columns."),
    zh=("{path} 没有列 {found}；现有的列是 {expected}。{hint}", "请选择其中一列。"),
)
NOT_A_NUMBER = failure(
    en=(
        "{path} line {line}, column {column}: expected a number, found {found}.",
        "Correct the cell, remove the column, or forecast another column alone with --target.",
    ),
    zh=(
        "{path} 第 {line} 行，列 {column}：应为数字，实际是 {found}。",
        "请改正该单元格、删去该列，或用 --target 只预测另一列。",
    ),
)
NOT_FINITE = failure(
    en=(
        "{path} line {line}, column {column}: the cell is {found}, which no forecast can be learnt from.",
        "Fill the gap, for example with the value before it, or remove the column.",
    ),
    zh=(
        "{path} 第 {line} 行，列 {column}：单元格是 {found}，无法从中学习。",
        "请填补空缺（例如用前一个值），或删去该列。",
    ),
)
NO_DATE = failure(
    en=(
        "{path} line {line}: expected a date such as 2016-07-01 00:00:00, found {found}.",
        "Write all dates as YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, or remove their column.",
    ),
    zh=(
        "{path} 第 {line} 行：应为 2016-07-01 00:00:00 这样的日期，实际是 {found}。",
        "请把日期都写成 YYYY-MM-DD 或 YYYY-MM-DD HH:MM:SS，或删去日期列。",
    ),
)
MISSING_DATE = failure(
    en=(
        "{path} line {line}: expected {expected} after {before}, found {found}; dates must follow at equal steps.",
        "Sort the rows and add the missing ones, or remove the column of dates to count rows alone.",
    ),
    zh=(
        "{path} 第 {line} 行：{before} 之后应为 {expected}，实际是 {found}；日期间隔必须相等。",
        "请排序并补上缺失的行，或删去日期列，只按行计。",
    ),
)
TOO_FEW_ROWS = failure(
    en=(
        "The {split} rows are too few: {lookback} steps of history and {horizon} to forecast need {expected}, found {found}.",
        "Give more rows, shorten --data.lookback or --data.horizon, or move the split.",
    ),
    zh=(
        "{split}部分行数太少：{lookback} 步历史加 {horizon} 步预测需要 {expected} 行，实际有 {found} 行。",
        "请提供更多行，缩短 --data.lookback 或 --data.horizon，或调整划分。",
    ),
)
SPLIT_PAST_END = failure(
    en=(
        "The split asks for {expected} rows; the table has {found}.",
        "Lower the three numbers of --data.rows, or leave them out.",
    ),
    zh=("划分要求 {expected} 行；表格只有 {found} 行。", "请减小 --data.rows 的三个数，或不指定它。"),
)
BAD_SHARES = failure(
    en=(
        "The shares of training, validation and test must be above 0 and add up to at most 1; found {found}.",
        "Give three numbers such as 0.7, 0.1, 0.2.",
    ),
    zh=("训练、验证、测试的比例都须大于 0，总和不超过 1；实际是 {found}。", "请给出三个数，例如 0.7、0.1、0.2。"),
)
SEASON_RANGE = Message("from 1 to the look-back of {lookback}", " 1 到回看长度 {lookback} 之间的数")
TRAINING = Message("training", "训练")
VALIDATION = Message("validation", "验证")
TEST = Message("test", "测试")
