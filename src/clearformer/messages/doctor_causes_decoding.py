"""Causes in sampling, penalties, beams, tokenizers and stop sets: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

CROSSING = Message(
    "Top-p drops the token that crosses p: less than p is kept.", "top-p 丢掉了跨过 p 的那个词元：保留的不足 p。"
)
CROSSING_FIX = Message("remove = cumsum - probs >= p", "remove = cumsum - probs >= p")
EMPTY = Message("Top-p can leave no token at all.", "top-p 可能一个词元都不留。")
EMPTY_FIX = Message("remove[..., 0] = False: the best is always kept", "remove[..., 0] = False：总保留最优者")
TOO_MUCH = Message("Top-p keeps more than it needs, or has no effect.", "top-p 保留过多，或不起作用。")
TOO_MUCH_FIX = Message("Keep the fewest tokens whose mass reaches p.", "保留总和达到 p 的最少词元。")
NOT_BEST = Message(
    "What is kept is not the most probable: a mask over sorted tokens is not put back in their places.",
    "保留的不是概率最高者：排序后的掩码没有放回原位。",
)
NOT_BEST_FIX = Message("remove = remove.scatter(-1, order, remove)", "remove = remove.scatter(-1, order, remove)")
TOP_K = Message("Top-k keeps another number of tokens than k.", "top-k 保留的词元数不是 k。")
TOP_K_FIX = Message(
    "logits < logits.topk(k).values[..., -1:] are excluded", "排除 logits < logits.topk(k).values[..., -1:]"
)
INVERTED = Message("The logits are multiplied by the temperature.", "logits 乘以了温度。")
INVERTED_FIX = Message("logits / temperature", "logits / temperature")
NO_HEAT = Message("The temperature has no effect.", "温度不起作用。")
NO_HEAT_FIX = Message(
    "logits = logits / temperature, before the softmax", "在 softmax 之前 logits = logits / temperature"
)
NOT_GREEDY = Message(
    "Temperature 0 is not greedy: it divides by zero or still draws.", "温度为 0 不是贪心：除以零或仍在采样。"
)
NOT_GREEDY_FIX = Message(
    "if temperature == 0: return logits.argmax(-1)", "if temperature == 0: return logits.argmax(-1)"
)
MIXED = Message(
    "Rows of a batch are mixed: a row's draw depends on the others.", "批中各行相互影响：一行的采样取决于其他行。"
)
MIXED_FIX = Message("Sort, sum, gather and scatter along dim=-1 only.", "只沿 dim=-1 排序、求和、gather 与 scatter。")
DIFFERS = Message("Tokens are not drawn with the chances of softmax.", "词元没有按 softmax 的概率采样。")
DIFFERS_FIX = Message(
    "torch.multinomial(logits.softmax(-1), 1), with one softmax",
    "torch.multinomial(logits.softmax(-1), 1)，只做一次 softmax",
)
RAISES = Message(
    "The penalty raises tokens with negative logits: it divides them too.",
    "惩罚反而抬高了 logits 为负的词元：对它们也做了除法。",
)
RAISES_FIX = Message(
    "where(logit > 0, logit / penalty, logit * penalty)", "where(logit > 0, logit / penalty, logit * penalty)"
)
TOUCHES = Message("The penalty falls on tokens that were not seen.", "惩罚落到了未出现的词元上。")
TOUCHES_FIX = Message(
    "Change only logits.gather(-1, ids), and scatter them back.", "只改 logits.gather(-1, ids)，再 scatter 回去。"
)
IDLE = Message("The penalty has no effect.", "惩罚不起作用。")
IDLE_FIX = Message("Return the changed logits.", "返回修改后的 logits。")
PROMPT = Message(
    "The prompt's length enters the score of a beam: short answers win after long prompts.",
    "束的得分计入了提示长度：提示越长，短回答越占优。",
)
PROMPT_FIX = Message("Divide by the number of generated tokens only.", "只除以生成的词元数。")
GO_ON = Message("Finished beams are expanded further.", "已结束的束仍在继续扩展。")
GO_ON_FIX = Message("Set a hypothesis aside as soon as it ends in EOS.", "假设一旦以 EOS 结尾就单独存放。")
FIRST_END = Message("The search stops as soon as one beam has ended.", "只要有一束结束，搜索就停止。")
FIRST_END_FIX = Message(
    "Stop only when no living beam can still beat the worst finished one.",
    "直到没有存活的束能胜过最差的已结束者才停止。",
)
MISSES = Message(
    "The beam search misses the best sequence though its width suffices.", "束宽足够，束搜索仍漏掉最优序列。"
)
MISSES_FIX = Message(
    "Rank beams × vocabulary together: topk over the flattened scores, then // V and % V.",
    "把束 × 词表放在一起排名：对展平的得分取 topk，再 // V 与 % V。",
)
ORDER = Message("Results are not sorted by score.", "结果没有按得分排序。")
ORDER_FIX = Message("sorted(found, key=score, reverse=True)", "sorted(found, key=score, reverse=True)")
PADDED = Message(
    "The model's head has more rows than the tokenizer has words, and the rest can be drawn.",
    "模型输出头的行数多于分词器的词数，多出的行也会被采样到。",
)
PADDED_FIX = Message("logits[..., len(tokenizer):] = -inf", "logits[..., len(tokenizer):] = -inf")

LOSES_SPACE = Message("The tokenizer loses or moves whitespace.", "分词器丢失或挪动了空白。")
LOSES_SPACE_FIX = Message(
    "Cut the text so that each piece keeps its own spaces, and join without adding any.",
    "切分时让每一段保留自身的空格，拼接时不另加。",
)
LOSES_CHARACTERS = Message("The tokenizer loses characters.", "分词器丢失了字符。")
LOSES_CHARACTERS_FIX = Message(
    "Fall back to bytes, and decode all bytes at once, not token by token.",
    "回退到字节，并把所有字节一起解码，不要逐词元解码。",
)
SPLIT = Message("A special token is cut into pieces.", "特殊词元被切碎。")
SPLIT_FIX = Message("Register it as special: add_special_tokens.", "把它注册为特殊词元：add_special_tokens。")
TWO_BEGIN = Message(
    "A text gets two beginnings: from the template and from the tokenizer.",
    "文本有两个开头标记：模板加一个，分词器又加一个。",
)
TWO_BEGIN_FIX = Message(
    "tokenizer(text, add_special_tokens=False) after a template", "模板之后用 tokenizer(text, add_special_tokens=False)"
)
OTHER_PATH = Message("The template's ids are not those of its text.", "模板给出的 id 与其文本编码的 id 不同。")
OTHER_PATH_FIX = Message("Use one path in training and in generation.", "训练与生成使用同一条路径。")
TURN = Message(
    "The token that ends a turn is not in the stop set: answers run on.", "结束一轮的词元不在停止集合内：回答停不下来。"
)
TURN_FIX = Message(
    "generation_config.eos_token_id = [eos, turn end]", "generation_config.eos_token_id = [eos, 轮次结束符]"
)
NO_EOS = Message("The tokenizer's end is not in the stop set.", "分词器的结束符不在停止集合内。")
NO_EOS_FIX = Message(
    "generation_config.eos_token_id = tokenizer.eos_token_id", "generation_config.eos_token_id = tokenizer.eos_token_id"
)
