"""Converts one request with Python's standard library: python3 convert.py requests/html.json hello.pdf"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SERVER = os.environ.get("PRESSLEDGER_SERVER", "http://localhost:8080")


def convert(request: dict) -> bytes:
    """Creates a conversion, waits for its end and returns the bytes of the PDF."""
    record = api("/pdf/", {"Content-Type": "application/json"}, json.dumps(request).encode())
    while record["status"] not in ("completed", "failed"):
        # Answers as soon as the conversion has ended, or after 30 seconds.
        record = api(f"/conversions/{record['id']}/", {"Prefer": "wait=30"})
    if record["status"] == "failed":
        raise RuntimeError(record["error_message"])
    with urlopen(record["file_url"], timeout=60) as file:
        return file.read()


def api(path: str, headers: dict, body: bytes | None = None) -> dict:
    headers["X-API-Key"] = os.environ["PRESSLEDGER_API_KEY"]
    try:
        with urlopen(Request(f"{SERVER}/api/v1{path}", body, headers), timeout=60) as answer:
            return json.load(answer)
    except HTTPError as error:
        problem = json.load(error)
        raise RuntimeError(f"{error.code} {problem['error']}: {problem['message']}") from None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        pdf = convert(json.load(file))
    with open(sys.argv[2], "wb") as file:
        file.write(pdf)
