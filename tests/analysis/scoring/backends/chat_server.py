"""An OpenAI-compatible chat server on this machine, with a tiny LLaVA of transformers behind it.

Models by other names do what hosted endpoints do: `busy` asks to wait once, `shy` declines, `strict` refuses the
picture, `locked` does not take the key, `moved` is elsewhere, `cold` takes no temperature, `newer` has another name for
the limit, `poor` has credit for two requests.
"""

import base64
import io
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, Response, jsonify, redirect, request
from PIL import Image as Picture
from werkzeug.serving import make_server


class ChatServer:
    """Requests are in `asked`: (model, text, size of the picture, metadata of the picture's file, seed)."""

    def __init__(self, llava: str) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self._model = AutoModelForImageTextToText.from_pretrained(llava).eval()
        self._processor = AutoProcessor.from_pretrained(llava)
        self._lock = threading.Lock()
        self.address = ""
        self.asked: list[tuple[str, str, tuple[int, int], dict[str, object], int]] = []
        self.calls: Counter[str] = Counter()

    def app(self) -> Flask:
        app = Flask("chat")
        app.add_url_rule("/v1/chat/completions", view_func=self._answer, methods=["POST"])
        return app

    def _answer(self) -> Response:
        asked = request.get_json()
        with self._lock:
            self.calls[asked["model"]] += 1
            first = self.calls[asked["model"]] == 1
            if asked["model"] == "busy" and first:
                return self._error(429, "Too many requests.", headers={"Retry-After": "0.01"})
            if asked["model"] == "strict":
                return self._error(
                    400, "Your request was rejected by our safety system.", code="content_policy_violation"
                )
            if asked["model"] == "cold" and "temperature" in asked:
                return self._error(
                    400,
                    "Only the default temperature is supported.",
                    code="unsupported_value",
                    param="temperature",
                )
            if asked["model"] == "newer" and "max_tokens" in asked:
                return self._error(
                    400, "Use max_completion_tokens.", code="unsupported_parameter", param="max_tokens"
                )
            if asked["model"] == "poor" and self.calls["poor"] > 2:
                return self._error(402, "The credit is used up.")
            if asked["model"] == "locked":
                return self._error(401, "Incorrect API key.")
            if asked["model"] == "fenced":
                return self._error(403, "Your project may not use this model.")
            if asked["model"] == "moved":
                return redirect(f"{self.address}/chat/completions?elsewhere", code=307)
            said = None if asked["model"] == "shy" else self._said(asked)
        message = {
            "role": "assistant",
            "content": said,
            "refusal": "I would rather not." if said is None else None,
        }
        return jsonify(
            id="1",
            object="chat.completion",
            created=1,
            model=asked["model"],
            choices=[{"index": 0, "message": message, "finish_reason": "stop"}],
        )

    def _said(self, asked: dict) -> str:
        import torch

        text, image = asked["messages"][0]["content"]
        file = base64.b64decode(image["image_url"]["url"].removeprefix("data:image/png;base64,"))
        picture = Picture.open(io.BytesIO(file))
        self.asked.append((asked["model"], text["text"], picture.size, dict(picture.info), asked["seed"]))
        chat = [{"role": "user", "content": [{"type": "image"}, text]}]
        prompt = self._processor.apply_chat_template(chat, add_generation_prompt=True)
        read = self._processor(images=picture, text=prompt, return_tensors="pt")
        torch.manual_seed(asked["seed"])
        limit = asked.get("max_tokens") or asked["max_completion_tokens"]
        written = self._model.generate(**read, max_new_tokens=limit, do_sample=True)
        new = written[0, read["input_ids"].shape[1] :]
        return self._processor.decode(new, skip_special_tokens=True) or "nothing"

    @staticmethod
    def _error(
        status: int,
        message: str,
        headers: dict[str, str] | None = None,
        code: str | None = None,
        param: str | None = None,
    ) -> Response:
        answer = jsonify(error={"message": message, "type": "error", "code": code, "param": param})
        answer.status_code = status
        answer.headers.update(headers or {})
        return answer


@contextmanager
def chatting(llava: str) -> Iterator[ChatServer]:
    """Serve until the block ends."""
    chat = ChatServer(llava)
    server = make_server("127.0.0.1", 0, chat.app(), threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    chat.address = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield chat
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
