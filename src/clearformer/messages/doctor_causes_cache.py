"""What is wrong with a cache or with generation, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

OFFSET_AFTER_PREFILL = Message(
    "New tokens stand at the wrong position once a prompt is in the cache.",
    "提示进入缓存之后，新词元的位置编号错了。",
)
OFFSET_AFTER_PREFILL_FIX = Message(
    "offset = cached length; after each call offset += new tokens",
    "offset = 缓存中已有的长度；每次调用后 offset += 新词元数",
)
CACHE_TOP_LEFT_ALIGNED = Message(
    "The causal mask lies at the top left: the first new query sees the first key only.",
    "因果掩码按左上角对齐：第一个新查询只看到第一个键。",
)
CACHE_TOP_LEFT_ALIGNED_FIX = Message(
    "Align at the bottom right: torch.ones(T, S).tril(S - T).bool(); one new token needs no mask.",
    "按右下角对齐：torch.ones(T, S).tril(S - T).bool()；只有一个新词元时不需要掩码。",
)
PREFILL_NOT_CAUSAL = Message(
    "A prompt that is read into a cache sees its own future.",
    "读入缓存的提示能看到自己的未来。",
)
PREFILL_NOT_CAUSAL_FIX = Message(
    "Apply the causal mask whenever more than one token comes in, cache or not.",
    "只要一次输入多于一个词元，就加因果掩码，与是否有缓存无关。",
)
CACHE_LOSES_THE_PAST = Message(
    "Not all that was read is in the cache.",
    "缓存没有保留全部已读内容。",
)
CACHE_LOSES_THE_PAST_FIX = Message(
    "k = torch.cat([past_k, k], dim=-2), and keep the whole",
    "k = torch.cat([past_k, k], dim=-2)，并完整保留",
)
CACHE_ORDER = Message(
    "Keys and values stand in a different order in the cache.",
    "缓存中键与值的次序不一致。",
)
CACHE_ORDER_FIX = Message(
    "Append both in the same way: torch.cat([past, new], dim=-2)",
    "两者以同样方式追加：torch.cat([past, new], dim=-2)",
)
CHUNK_NOT_CAUSAL = Message(
    "Several tokens that are read at once behind a cache see each other wrongly.",
    "在缓存之后一次读入多个词元时，它们之间的可见性有误。",
)
CHUNK_NOT_CAUSAL_FIX = Message(
    "Mask the chunk too: query i sees keys up to cached + i",
    "对这一段也加掩码：第 i 个查询可见到第 缓存长度 + i 个键",
)
CACHE_KEPT_FROM_BEFORE = Message(
    "A new cache still holds what was read before.",
    "新的缓存仍带着以前读过的内容。",
)
CACHE_KEPT_FROM_BEFORE_FIX = Message(
    "Make the cache anew for each sequence; no mutable default, reset it in reset().",
    "每个序列新建缓存；不要用可变的默认参数，并在 reset() 里清空。",
)
PREFIX_REPEATED = Message(
    "With a cache the whole prefix is computed again at each step.",
    "虽有缓存，每一步仍重新计算整个前缀。",
)
PREFIX_REPEATED_FIX = Message(
    "Hand in the new token only: model(ids[:, -1:], past_key_values=past)",
    "只传入新的词元：model(ids[:, -1:], past_key_values=past)",
)
GENERATION_DIFFERS_FROM_FORWARD = Message(
    "Generation chooses other tokens than the model itself would.",
    "生成所选的词元与模型自身的选择不同。",
)
GENERATION_DIFFERS_FROM_FORWARD_FIX = Message(
    "Take the last logits of the same ids: model(ids)[:, -1].argmax(-1)",
    "取同样词元的最后一个 logits：model(ids)[:, -1].argmax(-1)",
)
PADDED_PROMPTS_GENERATE_OTHERWISE = Message(
    "A prompt in a padded batch goes on otherwise than alone.",
    "同一提示在填充的批里与单独生成的结果不同。",
)
PADDED_PROMPTS_GENERATE_OTHERWISE_FIX = Message(
    "Pad at the left, and pass the mask and the positions at each step.",
    "在左侧填充，并在每一步传入掩码与位置。",
)
CACHE_LOSES_THE_WINDOW = Message(
    "A cache that keeps a window drops or hides what still lies within it, once the prompt is longer.",
    "只保留窗口的缓存在提示超过窗口后，丢掉或遮住了仍在窗口内的内容。",
)
CACHE_LOSES_THE_WINDOW_FIX = Message(
    "Keep the newest w - 1 keys and add the new one; take positions from the count of tokens read, not from the cache's size.",
    "保留最新的 w - 1 个键再加入新键；位置按已读词元数计，不按缓存长度。",
)
PADDING_FORGOTTEN_IN_THE_CACHE = Message(
    "Steps behind a cache read the padding of a shorter row: the mask of the past is not carried on.",
    "借助缓存的每一步读到了较短行的填充：过去的掩码没有延续下来。",
)
PADDING_FORGOTTEN_IN_THE_CACHE_FIX = Message(
    "Hand each step the mask of all keys: attention_mask = cat([attention_mask, ones(B, 1)], 1)",
    "每一步都给出全部键的掩码：attention_mask = cat([attention_mask, ones(B, 1)], 1)",
)
CACHE_HOLDS_OTHER_ENTRIES = Message(
    "A step stands at the right position and finds something else in the cache than the prompt put there: empty slots of a "
    "buffer, slots moved by one, or one entry for all layers.",
    "每一步的位置正确，但缓存中的内容与提示写入的不同：缓冲区的空槽、错开一格的槽，或所有层共用一个条目。",
)
CACHE_HOLDS_OTHER_ENTRIES_FIX = Message(
    "Write at [past : past + T], read [: past + T], and keep one pair of tensors for each layer.",
    "写入 [past : past + T]，读取 [: past + T]，每层各有一对张量。",
)
