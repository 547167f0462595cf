"""Converts every HTML file of a folder: python3 many.py pages/ pdfs/

Several files are under way at a time. Where the service asks to wait (429, 503), the program waits as long as
Retry-After says. Each file has an idempotency key, so a second run after an interruption costs nothing twice.
"""

import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SERVER = os.environ.get("PRESSLEDGER_SERVER", "http://localhost:8080")
AT_A_TIME = 4


def convert(source: Path, target: Path) -> str:
    html = source.read_text("utf-8")
    key = hashlib.sha256(f"{source.name}\n{html}".encode()).hexdigest()
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    answer = send(f"{SERVER}/api/v1/pdf/", headers, json.dumps({"html": html}).encode())
    file = f"{answer.headers['Location']}file/"
    while answer.status in (202, 409):
        answer = send(file, {})
    if answer.status != 200:
        return f"{source.name}: {json.load(answer)['message']}"
    target.write_bytes(answer.read())
    return f"{source.name}: {target}"


def send(url: str, headers: dict, body: bytes | None = None):
    headers |= {"Accept": "application/pdf", "Prefer": "wait=30"}
    headers["X-API-Key"] = os.environ["PRESSLEDGER_API_KEY"]
    while True:
        try:
            return urlopen(Request(url, body, headers), timeout=60)
        except HTTPError as error:
            if error.code not in (429, 503):
                return error
            time.sleep(int(error.headers.get("Retry-After", 1)))


if __name__ == "__main__":
    sources, targets = Path(sys.argv[1]), Path(sys.argv[2])
    targets.mkdir(exist_ok=True)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        pages = sorted(sources.glob("*.html"))
        for line in pool.map(lambda page: convert(page, targets / f"{page.stem}.pdf"), pages):
            print(line)
