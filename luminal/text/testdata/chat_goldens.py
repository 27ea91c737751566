# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes chat_cases.tsv: the templates of chat/ rendered by Hugging Face transformers.

    pip install transformers jinja2 && python luminal/text/testdata/chat_goldens.py

A line: template, add_generation_prompt, tools, variables, expected text, then three fields for each
message: role, content, further fields as JSON. strftime_now tells 2025-03-01 everywhere.
"""

import json
import os
from datetime import datetime

import transformers
from transformers.utils import chat_template_utils

import golden_file

HERE = os.path.dirname(os.path.abspath(__file__))


class FixedTime(datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2025, 3, 1)


TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Wetter für \"einen\" Ort <b>",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}},
                   "required": ["city"]}}}]
HELLO = [("user", "Hello", {})]
TALK = [("system", "Be brief.", {}), ("user", "  What is 2+2?\n", {}), ("assistant", "4", {}),
        ("user", "日本語で😀 \"quoted\" \\ back\tslash", {})]
CALL = [("user", "Weather in Paris?", {}),
        ("assistant", "", {"tool_calls": [{"type": "function", "function": {
            "name": "get_weather", "arguments": {"city": "Paris", "days": 2, "é": None}}}]}),
        ("tool", "{\"temp\": 21}", {"name": "get_weather"}),
        ("assistant", "21 degrees.", {})]
PARTS = [("user", "", {"content": [{"type": "image"}, {"type": "text", "text": " What is it? "}]})]
MANY = [("user", "baobab tree", {}), ("skip", "x", {}), ("assistant", "", {}),
        ("user", "o one two", {"name": "n"}), ("user", "never", {"extra": [1, {"k": "v"}]})]

CASES = [
    ("chatml", True, None, {}, HELLO), ("chatml", True, None, {}, TALK),
    ("chatml", False, None, {}, TALK), ("chatml", True, None, {"enable_thinking": False}, HELLO),
    ("gemma", True, None, {}, HELLO), ("gemma", True, None, {}, TALK),
    ("gemma", False, None, {}, TALK), ("gemma", True, None, {}, PARTS),
    ("llama3", True, None, {}, HELLO), ("llama3", True, None, {}, TALK),
    ("llama3", False, TOOLS, {"date_string": "26 Jul 2024"}, CALL),
    ("llama3", True, TOOLS, {}, CALL),
    ("features", True, None, {}, MANY), ("features", True, None, {}, TALK),
    ("features", True, None, {}, [("skip", "boo", {})]),
]


def main():
    chat_template_utils.datetime = FixedTime
    lines = []
    for name, prompt, tools, variables, talk in CASES:
        with open(os.path.join(HERE, "chat", name + ".jinja"), encoding="utf-8", newline="") as file:
            template = file.read()
        messages = [{"role": role, "content": content, **fields} for role, content, fields in talk]
        rendered, _ = chat_template_utils.render_jinja_template(
            [messages], tools=tools, chat_template=template, add_generation_prompt=prompt,
            bos_token="<bos>", eos_token="<eos>", **variables)
        line = [name, str(int(prompt)), json.dumps(tools) if tools else "",
                json.dumps(variables) if variables else "", rendered[0]]
        for role, content, fields in talk:
            line += [role, content, json.dumps(fields) if fields else ""]
        lines.append(line)
    golden_file.write(os.path.join(HERE, "chat_cases.tsv"),
                      ["made by chat_goldens.py, transformers " + transformers.__version__], lines)


if __name__ == "__main__":
    main()
