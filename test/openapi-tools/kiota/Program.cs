// Uses the client that Kiota generates.
using System.Text.Json;
using System.Web;
using Generated;
using Generated.Models;
using Microsoft.Kiota.Abstractions.Authentication;
using Microsoft.Kiota.Http.HttpClientLibrary;

var (baseUrl, key) = (args[0], args[1]);
// Its own provider of API keys refuses HTTP, which the service of the test speaks.
using var http = new HttpClient();
http.DefaultRequestHeaders.Add("X-API-Key", key);
var adapter = new HttpClientRequestAdapter(new AnonymousAuthenticationProvider(), httpClient: http)
{
    BaseUrl = baseUrl,
};
var client = new PressledgerClient(adapter).Api.V1;
var created = await client.Pdf.EmptyPathSegment.PostAsync(new ConversionRequest
{
    Html = "<h1>Kiota</h1>",
    PageSize = ConversionRequestPage_size.A5,
});
var conversion = client.Conversions[created!.Id!];
var record = await conversion.EmptyPathSegment.GetAsync(each => each.Headers.Add("Prefer", "wait=30"));
using var file = await conversion.File.EmptyPathSegment.GetAsync();
var start = new byte[5];
await file!.ReadExactlyAsync(start);
var error = "";
try
{
    await client.Conversions["conv_x"].EmptyPathSegment.GetAsync();
}
catch (Error exception)
{
    error = exception.ErrorProp.ToString();
}
Console.WriteLine(JsonSerializer.Serialize(new
{
    status = record!.Status.ToString(),
    pdf = System.Text.Encoding.Latin1.GetString(start),
    error,
}));
