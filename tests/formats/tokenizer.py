"""A tokenizer made here: a word is a token, and every text begins with a token of its own."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

WORDS = ("[UNK]", "[BOS]", "role", "user", "system", ":", *"abcdefgh")
BOS = WORDS.index("[BOS]")


def tokens_of(text: str) -> list[int]:
    """What it gives for words with blanks between them, without the first token."""
    return [WORDS.index(word) if word in WORDS else 0 for word in text.split()]


def save_tokenizer(folder: Path) -> Path:
    """Write ``tokenizer.json``; as some published ones do, it asks for padding and truncation."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: k for k, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(["[BOS]"])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="[BOS] $A", special_tokens=[("[BOS]", BOS)])
    tokenizer.enable_padding()
    tokenizer.enable_truncation(3)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


@cache
def tiny_tokenizer() -> str:
    """The path of such a file, there for as long as the process."""
    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    return str(save_tokenizer(Path(folder.name)))


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
