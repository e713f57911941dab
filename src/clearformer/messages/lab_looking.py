"""The words of the experiments that look into a trained model: heads removed, one word in two sentences."""

from __future__ import annotations

from clearformer.messages import Message, failure

PRUNING = Message("How many heads does a trained model need?", "训练好的模型需要多少个头？")
PRUNING_ABOUT = Message(
    "Heads of a trained decoder are silenced one after the other: the least important first, by chance, or the most important first. Importance is what the loss rises by without the head, on other texts.",
    "逐个关闭训练好的解码器的头：先关最不重要的、随机关、或先关最重要的。重要性是去掉该头后损失的上升量，在另外的文本上测得。",
)
LEAST_FIRST = Message("least important first", "先关最不重要的")
BY_CHANCE = Message("by chance", "随机")
MOST_FIRST = Message("most important first", "先关最重要的")
HALF_PRUNED, NONE_PRUNED = (
    Message("loss, half the heads", "损失，剩一半的头"),
    Message("loss, all heads", "损失，全部的头"),
)
HEADS_REMOVED, LOSS_OF_PRUNED = Message("heads removed", "去掉的头数"), Message("validation loss", "验证损失")
PRUNING_CLAIM = Message(
    "importance tells which heads can go: half removed by chance costs more than the least important half",
    "重要性能指出哪些头可去：随机去掉一半的代价高于去掉最不重要的一半",
)

CONTEXT = Message("Does a word's vector depend on its sentence?", "词向量取决于所在的句子吗？")
CONTEXT_ABOUT = Message(
    "One word in two sentences, in the same sense or in two senses, read by minilm-l6; the cosine between its two vectors after each layer. Seeds are words.",
    "同一个词出现在两个句子里，词义相同或不同，由 minilm-l6 读取；每层之后两个词向量的余弦。种子即不同的词。",
)
SAME_SENSE, OTHER_SENSE = Message("same sense", "同义"), Message("other sense", "异义")
COSINE = Message("cosine, last layer", "余弦，末层")
FIRST_COSINE = Message("cosine, embedding", "余弦，词嵌入")
LAYER, COSINE_Y = Message("layer", "层"), Message("cosine of the word's two vectors", "两个词向量的余弦")
CONTEXT_CLAIM = Message(
    "in two senses a word's vectors end further apart than in one", "词义不同时，两个词向量最终相距更远"
)

PRONOUN = Message(
    "Where does “it” look in “The cat sat on the mat because it was tired”?",
    "“The cat sat on the mat because it was tired”中的 it 看向哪里？",
)
PRONOUN_ABOUT = Message(
    "minilm-l6 reads sentences of that form; the attention of “it” to the noun that it stands for, to the other noun, and to the first token, as a mean over all layers and heads. Seeds are sentences.",
    "minilm-l6 读取这种形式的句子；“it”对其所指名词、对另一名词、对首个词元的注意力，取全部层与头的均值。种子即不同的句子。",
)
MEANT, OTHER_NOUN, FIRST_TOKEN = (
    Message("the noun meant", "所指名词"),
    Message("the other noun", "另一名词"),
    Message("first token", "首个词元"),
)
SHARE = Message("attention, mean of heads", "注意力，各头均值")
BEST_HEAD = Message("attention, highest head", "注意力，最高的头")
PRONOUN_CLAIM = Message(
    "“it” attends to the noun that it stands for more than to the other", "“it”对所指名词的注意力高于另一名词"
)

NOT_ONE_TOKEN = failure(
    en=("{name} has {word} {count} times as one token in the sentence; expected once.", "Give another word or model."),
    zh=("在该句中，{name} 把 {word} 作为单个词元出现 {count} 次；应为一次。", "请换一个词或模型。"),
)
