"""Prompts as text made into tokens, with a tokenizer and a chat template that the user names.  Nothing is fetched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hitcurve.errors import BadParameter, HitcurveError

PLAIN = "{role}: {content}\n"  # a message where no template is named


class NotText(Exception):
    """What stands where a prompt was wanted; ``str`` says what was, and never quotes it."""


class Prompts:
    """Prompts of a file: ``text`` of what stands in a row, and ``tokens`` of many texts at once.

    ``tokenizer``: a ``tokenizer.json`` of Hugging Face's tokenizers, or the folder of one.
    ``template``: a chat template in Jinja; None: messages are put one after another as ``role: content`` lines.

    BadParameter where a file cannot be used, HitcurveError where a library is missing.
    """

    def __init__(self, tokenizer: str | os.PathLike[str], template: str | os.PathLike[str] | None = None) -> None:
        path = Path(tokenizer)
        path = path / "tokenizer.json" if path.is_dir() else path
        self._tokenizer = _tokenizer(path)
        self._render = None if template is None else _template(Path(template), _special_tokens(path))

    def text(self, prompt: Any) -> str:
        """The text of a prompt: a string as it is, or a list of messages (or an object with one under ``messages``).

        NotText where it is none of these.
        """
        if isinstance(prompt, str):
            return _encodable(prompt)
        messages = prompt.get("messages") if isinstance(prompt, dict) else prompt
        if not isinstance(messages, list):
            raise NotText(f"wanted a string or a list of messages, found {type(prompt).__name__}")
        plain = [_message(message) for message in messages]
        if self._render is None:
            return _encodable("".join(PLAIN.format(role=role, content=content) for role, content in plain))
        return _encodable(self._render(messages))

    def tokens(self, texts: list[str]) -> list[list[int]]:
        """The token ids of each text; special tokens are added where no template has put them there."""
        batch = self._tokenizer.encode_batch_fast(texts, add_special_tokens=self._render is None)
        return [encoding.ids for encoding in batch]


def _message(message: Any) -> tuple[str, str]:
    """Role and content; content in parts is put together."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise NotText("wanted messages with a role and a content, found one without")
    content = message.get("content")
    if isinstance(content, list):
        parts: list[Any] = [part.get("text") if isinstance(part, dict) else part for part in content]
        if not all(isinstance(part, str) for part in parts):
            raise NotText("wanted content in parts of text, found a part that is none")
        content = "".join(parts)
    if not isinstance(content, str | None):
        raise NotText(f"wanted a content that is text, found {type(content).__name__}")
    return message["role"], content or ""


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotText("wanted text, found half of a surrogate pair in it") from None
    return text


def _tokenizer(path: Path) -> Any:
    try:
        import tokenizers
    except ImportError:
        raise HitcurveError("texts need tokenizers: pip install 'hitcurve[text]'") from None
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more special
        raise BadParameter(f"tokenizer: {path}: {str(error) or type(error).__name__}") from error
    tokenizer.no_padding()  # a prompt keeps its length, whatever the file says
    tokenizer.no_truncation()
    return tokenizer


def _special_tokens(path: Path) -> dict[str, str]:
    """The texts of ``bos_token``, ``eos_token`` ..., from the ``tokenizer_config.json`` beside a tokenizer."""
    try:
        config = json.loads((path.parent / "tokenizer_config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    tokens = {name: value for name, value in config.items() if name.endswith("_token")} if type(config) is dict else {}
    texts = {name: value.get("content") if isinstance(value, dict) else value for name, value in tokens.items()}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def _template(path: Path, special: dict[str, str]) -> Callable[[list[Any]], str]:
    try:
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise HitcurveError("chat templates need jinja2: pip install 'hitcurve[text]'") from None

    def refuse(reason: str) -> None:
        raise TemplateError(reason)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
    environment.globals["raise_exception"] = refuse
    try:
        template = environment.from_string(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        raise BadParameter(f"template: {path}: {' '.join(str(error).split())}") from error

    def render(messages: list[Any]) -> str:
        try:
            return template.render(messages=messages, add_generation_prompt=True, **special)
        except Exception as error:  # a template may do anything
            reason = str(error) if isinstance(error, TemplateError) else type(error).__name__
            raise NotText(f"the chat template does not take these messages: {' '.join(reason.split())}") from error

    return render
