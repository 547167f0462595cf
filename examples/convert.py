"""Converts one request with Python's standard library: python3 convert.py requests/html.json hello.pdf"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SERVER = os.environ.get("PRESSLEDGER_SERVER", "http://localhost:8080")


def convert(request: dict) -> bytes:
    """Creates a conversion, waits for its end and returns the bytes of the PDF."""
    body = json.dumps(request).encode()
    answer = send(f"{SERVER}/api/v1/pdf/", {"Content-Type": "application/json"}, body)
    file = f"{answer.headers['Location']}file/"
    while answer.status in (202, 409):
        answer = send(file, {})
    if answer.status == 200:
        return answer.read()
    problem = json.load(answer)
    raise RuntimeError(f"{answer.status} {problem['error']}: {problem['message']}")


def send(url: str, headers: dict, body: bytes | None = None):
    # The answer is the PDF as soon as it is there, or a status after 30 seconds.
    headers |= {"Accept": "application/pdf", "Prefer": "wait=30"}
    headers["X-API-Key"] = os.environ["PRESSLEDGER_API_KEY"]
    try:
        return urlopen(Request(url, body, headers), timeout=60)
    except HTTPError as error:
        return error


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        pdf = convert(json.load(file))
    with open(sys.argv[2], "wb") as file:
        file.write(pdf)
