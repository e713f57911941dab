"""What pictures and their labels can have wrong."""

from __future__ import annotations

from clearformer.messages import Message, failure

CROP_IS_LARGER = Message("what is cropped must lie within what was scaled", "裁剪的范围须在缩放后的图像之内")
NO_IMAGES = failure(
    en=(
        "There are no images at {path}: expected a folder with one folder of images a class, or an .npz file.",
        "Put the images into folders named after their classes, or name digits.",
    ),
    zh=(
        "{path} 处没有图像：应为每类一个子文件夹的文件夹，或 .npz 文件。",
        "请按类别把图像放入以类别命名的文件夹，或指定 digits。",
    ),
)
SINGLE_CLASS = failure(
    en=("{path} has one class alone: {found}.", "Give images of at least two classes."),
    zh=("{path} 只有一个类别：{found}。", "请提供至少两个类别的图像。"),
)
TOO_FEW_IMAGES = failure(
    en=(
        "Class {name} has {found} images; at least {expected} are needed, so that each split has one.",
        "Give more images of this class, or remove it.",
    ),
    zh=(
        "类别 {name} 有 {found} 张图像；至少需要 {expected} 张，使每个划分都有一张。",
        "请增加该类别的图像，或删去它。",
    ),
)
NO_PICTURE = failure(
    en=("{path}: expected an image file, found none there.", "Check the path."),
    zh=("{path}：应为图像文件，但该处没有。", "请检查路径。"),
)
UNREADABLE = failure(
    en=(
        "{path} cannot be read as an image: {detail}.",
        "Replace or remove the file; PNG, JPEG, WebP, BMP, GIF and PPM are read.",
    ),
    zh=("无法把 {path} 读作图像：{detail}。", "请替换或删去该文件；可读 PNG、JPEG、WebP、BMP、GIF、PPM。"),
)
TOO_LARGE = failure(
    en=(
        "{path} says that it is {found} pixels large; at most {limit} are read.",
        "Make the image smaller, or remove it if it is not what it seems.",
    ),
    zh=("{path} 自称有 {found} 像素；最多读取 {limit} 像素。", "请缩小该图像；若来历可疑，请删去它。"),
)
BAD_ARCHIVE = failure(
    en=("{path} is no array file as expected: {detail}.", "Write it by numpy.savez(path, images=…, labels=…)."),
    zh=("{path} 不是预期的数组文件：{detail}。", "请用 numpy.savez(path, images=…, labels=…) 写出。"),
)
BAD_ARRAYS = failure(
    en=(
        "{path}: expected images (count, height, width) or (count, height, width, 1 or 3) and as many labels; found {images} and {labels}.",
        "Give uint8 images, or floats from 0 to 1, and one whole number an image as its label.",
    ),
    zh=(
        "{path}：应有形状为（数量，高，宽）或（数量，高，宽，1 或 3）的图像和同样多的标签；实际是 {images} 与 {labels}。",
        "请提供 uint8 图像，或 0 到 1 的浮点图像，并为每张图像给出一个整数标签。",
    ),
)
BAD_PIXELS = failure(
    en=(
        "{path}: expected pixels from 0 to {limit}; found {low} to {high}.",
        "Scale the pixels, and replace values that are not numbers.",
    ),
    zh=("{path}：像素应在 0 到 {limit} 之间；实际为 {low} 到 {high}。", "请缩放像素，并替换非数值。"),
)
LABEL_RANGE = failure(
    en=(
        "{path}, image {index}: expected a label from 0 to {last}, found {found}.",
        "Number the classes from 0 without gaps.",
    ),
    zh=("{path}，第 {index} 张图像：标签应为 0 到 {last}，实际是 {found}。", "请从 0 起连续编号各类别。"),
)
NO_SKLEARN = failure(
    en=(
        "The digits come with scikit-learn, which is not installed.",
        "Install it: pip install scikit-learn",
    ),
    zh=("digits 数据集随 scikit-learn 提供，但尚未安装。", "请运行：pip install scikit-learn"),
)
BAD_SHARES = failure(
    en=(
        "The shares of validation and test must lie between 0 and 1, with something left for training; found {validation} and {test}.",
        "Give two numbers such as 0.1 and 0.2.",
    ),
    zh=(
        "验证与测试的比例须在 0 与 1 之间，并给训练留有余地；实际是 {validation} 与 {test}。",
        "请给出两个数，例如 0.1 与 0.2。",
    ),
)
