using System.Net.Http;
using System.Text.Json;
using System.Web;
using Generated.NewtonsoftJson;

namespace Consumers.NewtonsoftJson;

/// <summary>Uses the client that NSwag generates. The test makes a copy for the other serialiser.</summary>
static class Consumer
{
    public static async Task<string> Run(string baseUrl, string key)
    {
        using var http = new HttpClient();
        http.DefaultRequestHeaders.Add("X-API-Key", key);
        var client = new PressledgerClient(http) { BaseUrl = baseUrl };
        var request = new ConversionRequest
        {
            Html = "<h1>NSwag</h1>",
            Page_size = ConversionRequestPage_size.A5,
            Media = ConversionRequestMedia.Screen,
        };
        var created = await client.CreateConversionAsync(body: request);
        var record = await client.GetConversionAsync(created.Id, prefer: "wait=30");
        var token = HttpUtility.ParseQueryString(record.File_url.Query)["token"];
        using var file = await client.DownloadFileAsync(created.Id, "pdf", token);
        var start = new byte[5];
        await file.Stream.ReadExactlyAsync(start);
        var conversions = await client.ListConversionsAsync(page_size: 100, status: ConversionStatus.Completed);
        var keys = await client.ListApiKeysAsync();
        var account = await client.GetAccountAsync();
        var ledger = await client.ListLedgerEntriesAsync();
        var error = "";
        try
        {
            await client.GetConversionAsync("conv_x");
        }
        catch (ApiException<Error> exception)
        {
            error = exception.Result.Error1.ToString();
        }
        return JsonSerializer.Serialize(new
        {
            status = record.Status.ToString(),
            pdf = System.Text.Encoding.Latin1.GetString(start),
            listed = conversions.Any(each => each.Id == created.Id),
            keys = keys.Count,
            plan = account.Plan.ToString(),
            entry = ledger.First().Type.ToString(),
            error,
        });
    }
}
