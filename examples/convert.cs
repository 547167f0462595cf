// Converts one request with .NET 10 and nothing else: dotnet run convert.cs requests/html.json hello.pdf
#:property PublishAot=false
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;

var server = Environment.GetEnvironmentVariable("PRESSLEDGER_SERVER") ?? "http://localhost:8080";
var key = Environment.GetEnvironmentVariable("PRESSLEDGER_API_KEY");
using var http = new HttpClient { BaseAddress = new Uri($"{server}/api/v1/") };

var request = await File.ReadAllTextAsync(args[0]);
var record = await Send(new HttpRequestMessage(HttpMethod.Post, "pdf/")
{
    Content = new StringContent(request, Encoding.UTF8, "application/json"),
});
while ((string?)record["status"] is not ("completed" or "failed"))
{
    // Answers as soon as the conversion has ended, or after 30 seconds.
    var get = new HttpRequestMessage(HttpMethod.Get, $"conversions/{record["id"]}/");
    get.Headers.Add("Prefer", "wait=30");
    record = await Send(get);
}
if ((string?)record["status"] == "failed") throw new Exception((string?)record["error_message"]);
await File.WriteAllBytesAsync(args[1], await http.GetByteArrayAsync((string?)record["file_url"]));

async Task<JsonNode> Send(HttpRequestMessage message)
{
    message.Headers.Add("X-API-Key", key);
    using var response = await http.SendAsync(message);
    var body = await response.Content.ReadFromJsonAsync<JsonNode>() ?? throw new Exception("The answer is empty.");
    if (!response.IsSuccessStatusCode) throw new Exception($"{(int)response.StatusCode} {body["error"]}: {body["message"]}");
    return body;
}
