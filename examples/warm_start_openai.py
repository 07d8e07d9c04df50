"""A warm start for the openai client: the model first sees calls that worked in earlier sessions.

From the folder of the project: OPENAI_API_KEY=… python examples/warm_start_openai.py
OPENAI_BASE_URL names another endpoint, such as http://127.0.0.1:8080/v1 for a model on this machine.
"""

import os

import openai
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

import whet

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")

template = whet.mine(whet.read("examples/sessions/openai"), "support")
print(f"{template.description}, about {template.tokens} tokens in each request")

messages: list[ChatCompletionMessageParam] = [
    {"role": "system", "content": "You are the support agent of a bicycle shop."},
    {"role": "user", "content": "Please send my order T-50112 to Ringstr. 4, 04109 Leipzig."},
]
tools: list[ChatCompletionToolParam] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in template.tools
]
with openai.OpenAI() as client:
    warm = whet.warm_start(template, messages)
    answer = client.chat.completions.create(model=MODEL, messages=warm, tools=tools).choices[0].message

for call in answer.tool_calls or ():
    if call.type == "function":
        print(f"{call.function.name} {call.function.arguments}")
if answer.content:
    print(answer.content)
