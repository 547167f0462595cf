import { REQUEST_FILE, type SampleRequest } from './json.ts';

export function csharpSample({ json, server, path, made }: SampleRequest): string {
  // JSON never has three quotes in a row, which end a raw string.
  const body =
    json === undefined ? `await File.ReadAllTextAsync("${REQUEST_FILE}")` : `"""\n${json}\n"""`;
  return `using System.Net;
using System.Text;

using var http = new HttpClient();
http.DefaultRequestHeaders.Add("X-API-Key", Environment.GetEnvironmentVariable("PRESSLEDGER_API_KEY"));
http.DefaultRequestHeaders.Add("Accept", "${made.type}");
http.DefaultRequestHeaders.Add("Prefer", "wait=30");

var request = ${body};

// The answer is the ${made.name} as soon as it is there, or a status after 30 seconds.
var response = await http.PostAsync(
    "${server}/api/v1/${path}",
    new StringContent(request, Encoding.UTF8, "application/json"));
var file = $"{response.Headers.Location}file/";
while (response.StatusCode is HttpStatusCode.Accepted or HttpStatusCode.Conflict)
{
    response = await http.GetAsync(file);
}
if (!response.IsSuccessStatusCode)
{
    throw new Exception(await response.Content.ReadAsStringAsync());
}
await File.WriteAllBytesAsync("${made.file}", await response.Content.ReadAsByteArrayAsync());
`;
}
