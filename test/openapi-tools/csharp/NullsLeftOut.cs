using System.Text.Json;
using System.Text.Json.Serialization;

namespace Generated.SystemTextJson;

public partial class PressledgerClient
{
    static partial void UpdateJsonSerializerSettings(JsonSerializerOptions settings) =>
        settings.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
}
