"""Converts every HTML file of a folder: python3 many.py pages/ pdfs/

The styles, pictures, fonts and scripts that a page refers to go with it if they lie in the folder or below. Several
pages are under way at a time. Where the service asks to wait (429, 503), the program waits as long as Retry-After says.
Each page has an idempotency key, made of all that is sent, so a second run after an interruption costs nothing twice.

What a PDF lacks is printed below its name. The exit status is 0 if every PDF is there and lacks nothing, else 1.
"""

import base64
import hashlib
import json
import os
import posixpath
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

SERVER = os.environ.get("PRESSLEDGER_SERVER", "http://localhost:8080")
API_KEY = os.environ["PRESSLEDGER_API_KEY"]
AT_A_TIME = 4
# More than a service takes unless it is set otherwise.
MAX_BYTES = 64 * 2**20

IN_CSS = re.compile(r"""url\(\s*(["']?)(.*?)\1\s*\)|@import\s+(["'])(.*?)\3""", re.I | re.S)
IN_SCRIPT = re.compile(r"""\b(?:from|import)\s*\(?\s*(["'])(\.{0,2}/[^"'\n]+)\1""")
# The service refuses these names; the page itself is index.html there.
REFUSED_NAME = re.compile(r"[\x00-\x1f\x7f-\x9f\\]|^index\.html$|.{256}")


class References(HTMLParser):
    """Collects the addresses of what a page is made of."""

    def __init__(self, html: str):
        super().__init__()
        self.base: str | None = None
        self.addresses: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list):
        given = {name: value or "" for name, value in attrs}
        kinds = {"stylesheet", "preload", "modulepreload"} & set(given.get("rel", "").lower().split())
        if tag == "base" and self.base is None:
            self.base = given.get("href")
        if kinds if tag == "link" else tag in ("image", "use", "feimage"):
            self.addresses += [given.get("href", ""), given.get("xlink:href", "")]
        self.addresses += [given.get(name, "") for name in ("src", "poster", "data", "background")]
        for choices in (given.get("srcset", ""), given.get("imagesrcset", "")):
            self.addresses += [choice.split()[0] for choice in choices.split(",") if choice.strip()]
        self.addresses += in_css(given.get("style", ""))

    def handle_data(self, data: str):
        if self.lasttag == "style":
            self.addresses += in_css(data)
        if self.lasttag == "script":
            self.addresses += in_script(data)


def in_css(text: str) -> list[str]:
    css = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return [address or imported for _, address, _, imported in IN_CSS.findall(css)]


def in_script(text: str) -> list[str]:
    return [address for _, address in IN_SCRIPT.findall(text)]


def references(name: str, text: str) -> list[str]:
    """The paths that a file refers to, as from the page's folder; addresses on the web are none."""
    page = References(text) if name.endswith((".html", ".htm")) else None
    folder = posixpath.dirname(name)
    if page and page.base is not None:
        base = below(folder, page.base)
        if base is None:
            return []
        folder = posixpath.dirname(base)
    addresses = page.addresses if page else in_css(text) if name.endswith(".css") else in_script(text)
    paths = [below(folder, address) for address in addresses if address.strip()]
    return [posixpath.normpath(path) for path in paths if path]


def below(folder: str, address: str) -> str | None:
    try:
        url = urlsplit(address.strip())
    except ValueError:
        return None
    return None if url.scheme or url.netloc else posixpath.join(folder, unquote(url.path)).lstrip("/")


def files_beside(page: Path, html: str) -> tuple[dict[str, bytes], list[str]]:
    """The files that a page is made of, by their names, and a line for each one that must not be sent."""
    files: dict[str, bytes] = {}
    kept_back: dict[str, str] = {}
    texts = [(page.name, html)]
    while texts:
        for name in references(*texts.pop()):
            if name in files or name in kept_back or name == page.name:
                continue
            reason = reason_against(page.parent, name)
            if reason:
                kept_back[name] = f"{name} is not sent: {reason}"
            # The service says which of the missing files the page has asked for.
            elif (path := page.parent / name).is_file():
                if path.stat().st_size + sum(map(len, files.values())) > MAX_BYTES:
                    raise ValueError(f"The files beside it have more than {MAX_BYTES // 2**20} MiB.")
                files[name] = path.read_bytes()
                if name.endswith((".css", ".js", ".mjs", ".html", ".htm")):
                    texts.append((name, files[name].decode("utf-8", "replace")))
    return files, list(kept_back.values())


def reason_against(folder: Path, name: str) -> str | None:
    if REFUSED_NAME.search(name):
        return "a file beside a page cannot have this name"
    # A symbolic link may lead out of the folder.
    real = Path(os.path.realpath(folder / name))
    if name.startswith("../") or not real.is_relative_to(os.path.realpath(folder)):
        return f"it lies outside of {folder}"
    return "it is hidden" if re.search(r"(^|/)\.[^/]", name) else None


def convert(source: Path, target: Path) -> list[str]:
    """Writes the PDF of a page, and returns what it lacks."""
    if source.stat().st_size > MAX_BYTES:
        raise ValueError(f"The page has more than {MAX_BYTES // 2**20} MiB.")
    html = source.read_text("utf-8-sig")
    files, lacking = files_beside(source, html)
    encoded = {name: base64.b64encode(content).decode() for name, content in files.items()}
    body = json.dumps({"html": html, "files": encoded}).encode()
    key = hashlib.sha256(f"{source.name}\n".encode() + body).hexdigest()
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    answer = send(f"{SERVER}/api/v1/pdf/", headers, body)
    record = answer.headers["Location"]
    while answer.status in (202, 409):
        answer = send(f"{record}file/", {})
    if answer.status != 200:
        problem = json.load(answer)
        details = [text for texts in problem.get("details", {}).values() for text in texts]
        raise RuntimeError(" ".join([problem["message"], *details]))
    target.write_bytes(answer.read())
    if int(answer.headers.get("X-Conversion-Warnings", 0)) > 0:
        lacking += json.load(send(record, {}))["warnings"]
    return lacking


def send(url: str, headers: dict, body: bytes | None = None):
    headers |= {"Accept": "application/pdf", "Prefer": "wait=30"}
    headers["X-API-Key"] = API_KEY
    while True:
        try:
            return urlopen(Request(url, body, headers), timeout=60)
        except HTTPError as error:
            if error.code not in (429, 503):
                return error
            time.sleep(int(error.headers.get("Retry-After", 1)))


def outcome(source: Path, target: Path) -> tuple[str, str]:
    """Converts a page, and says how that ended."""
    try:
        lacking = convert(source, target)
    except Exception as error:  # The other pages do not wait for this one to be mended.
        return "failed", f"{source.name}: {error}"
    return "incomplete" if lacking else "whole", "\n  ".join([f"{source.name}: {target}", *lacking])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sources, targets = Path(sys.argv[1]), Path(sys.argv[2])
    pages = sorted(sources.glob("*.html"))
    if not pages:
        sys.exit(f"There is no .html file in {sources}.")
    targets.mkdir(parents=True, exist_ok=True)
    ends = Counter()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for end, text in pool.map(lambda page: outcome(page, targets / f"{page.stem}.pdf"), pages):
            print(text, flush=True)
            ends[end] += 1
    print(f"{len(pages)} pages: {ends['whole']} whole, {ends['incomplete']} incomplete, {ends['failed']} failed.")
    sys.exit(0 if ends["whole"] == len(pages) else 1)
