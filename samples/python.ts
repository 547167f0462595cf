import { indented, REQUEST_FILE, type SampleRequest, visible } from './json.ts';

function literal(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  const parts = Array.isArray(value)
    ? value.map(literal)
    : typeof value === 'object'
      ? Object.entries(value).map(([name, each]) => `${literal(name)}: ${literal(each)}`)
      : undefined;
  // A string of JSON means the same in Python.
  if (parts === undefined) return visible(JSON.stringify(value));
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  return `${open}\n    ${parts.map((part) => indented(part, '    ')).join(',\n    ')},\n${close}`;
}

export function pythonSample({ request, json, server, path, made }: SampleRequest): string {
  const given =
    json === undefined
      ? `with open("${REQUEST_FILE}", encoding="utf-8") as file:\n    request = json.load(file)`
      : `request = ${literal(request)}`;
  return `import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

${given}

headers = {
    "X-API-Key": os.environ["PRESSLEDGER_API_KEY"],
    "Content-Type": "application/json",
    "Accept": "${made.type}",
    "Prefer": "wait=30",
}


def send(url, body=None):
    try:
        return urlopen(Request(url, body, headers), timeout=60)
    except HTTPError as error:
        return error


# The answer is the ${made.name} as soon as it is there, or a status after 30 seconds.
answer = send("${server}/api/v1/${path}", json.dumps(request).encode())
file = f"{answer.headers['Location']}file/"
while answer.status in (202, 409):
    answer = send(file)
if answer.status != 200:
    raise SystemExit(answer.read().decode())
with open("${made.file}", "wb") as file:
    file.write(answer.read())
`;
}
