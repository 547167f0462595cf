import { REQUEST_FILE, type SampleRequest } from './json.ts';

export function phpSample({ json, server, path, made }: SampleRequest): string {
  const request =
    json === undefined ? `file_get_contents('${REQUEST_FILE}')` : `<<<'JSON'\n${json}\nJSON`;
  return `<?php
$request = ${request};

function send(string $path, ?string $body = null): array
{
    $curl = curl_init("${server}/api/v1/$path");
    curl_setopt_array($curl, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HTTPHEADER => [
            'X-API-Key: ' . getenv('PRESSLEDGER_API_KEY'),
            'Content-Type: application/json',
            'Accept: ${made.type}',
            'Prefer: wait=30',
        ],
    ]);
    if ($body !== null) {
        curl_setopt($curl, CURLOPT_POSTFIELDS, $body);
    }
    $answer = curl_exec($curl);
    if ($answer === false) {
        throw new RuntimeException(curl_error($curl));
    }
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $answer];
}

// The answer is the ${made.name} as soon as it is there, or a status after 30 seconds.
[$status, $answer] = send('${path}', $request);
$id = json_decode($answer)->id ?? '';
while ($status === 202 || $status === 409) {
    [$status, $answer] = send("conversions/$id/file/");
}
if ($status !== 200) {
    throw new RuntimeException($answer);
}
file_put_contents('${made.file}', $answer);
`;
}
