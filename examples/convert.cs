// Converts one request with .NET 10 and nothing else: dotnet run convert.cs requests/html.json hello.pdf
#:property PublishAot=false
using System.Net;
using System.Text;
using System.Text.Json.Nodes;

var server = Environment.GetEnvironmentVariable("PRESSLEDGER_SERVER") ?? "http://localhost:8080";
using var http = new HttpClient();
// The answer is the PDF as soon as it is there, or a status after 30 seconds.
http.DefaultRequestHeaders.Add("X-API-Key", Environment.GetEnvironmentVariable("PRESSLEDGER_API_KEY"));
http.DefaultRequestHeaders.Add("Accept", "application/pdf");
http.DefaultRequestHeaders.Add("Prefer", "wait=30");

var request = new StringContent(await File.ReadAllTextAsync(args[0]), Encoding.UTF8, "application/json");
var response = await http.PostAsync($"{server}/api/v1/pdf/", request);
var file = $"{response.Headers.Location}file/";
while (response.StatusCode is HttpStatusCode.Accepted or HttpStatusCode.Conflict)
{
    response = await http.GetAsync(file);
}
if (response.IsSuccessStatusCode)
{
    await File.WriteAllBytesAsync(args[1], await response.Content.ReadAsByteArrayAsync());
    return;
}
var problem = JsonNode.Parse(await response.Content.ReadAsStringAsync());
throw new Exception($"{(int)response.StatusCode} {problem?["error"]}: {problem?["message"]}");
