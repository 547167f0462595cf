import { REQUEST_FILE, type SampleRequest } from './json.ts';

/** A raw string ends at a backquote, which JSON may write as an escape. */
const rawString = (json: string): string => `\`${json.replaceAll('`', String.raw`\u0060`)}\``;

export function goSample({ json, server, path, made }: SampleRequest): string {
  const [imports, request] =
    json === undefined
      ? ['"bytes"\n\t"io"', `os.ReadFile("${REQUEST_FILE}")`]
      : ['"io"', rawString(json)];
  const given =
    json === undefined
      ? `\trequest, err := ${request}\n\tcheck(err)\n`
      : `\trequest := ${request}\n`;
  const reader = json === undefined ? 'bytes.NewReader(request)' : 'strings.NewReader(request)';
  const strings = json === undefined ? '' : '\n\t"strings"';
  return `package main

import (
	${imports}
	"log"
	"net/http"
	"os"${strings}
)

func main() {
${given}
	// The answer is the ${made.name} as soon as it is there, or a status after 30 seconds.
	response := send("POST", "${server}/api/v1/${path}", ${reader})
	file := response.Header.Get("Location") + "file/"
	for response.StatusCode == http.StatusAccepted || response.StatusCode == http.StatusConflict {
		response.Body.Close()
		response = send("GET", file, nil)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s", answer)
	}
	check(os.WriteFile("${made.file}", answer, 0o644))
}

func send(method, url string, body io.Reader) *http.Response {
	request, err := http.NewRequest(method, url, body)
	check(err)
	request.Header.Set("X-API-Key", os.Getenv("PRESSLEDGER_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "${made.type}")
	request.Header.Set("Prefer", "wait=30")
	response, err := http.DefaultClient.Do(request)
	check(err)
	return response
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
`;
}
