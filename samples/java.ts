import { escaped, REQUEST_FILE, type SampleRequest } from './json.ts';

/** Compilers before Java 18 read a source in the encoding of the machine: all but ASCII is written as escapes. */
const textBlock = (json: string): string =>
  `"""\n${json.replaceAll('\\', '\\\\').replace(/[^\x20-\x7e\n]/g, escaped)}"""`;

export function javaSample({ json, server, path, made }: SampleRequest): string {
  const request =
    json === undefined ? `Files.readString(Path.of("${REQUEST_FILE}"))` : textBlock(json);
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;

public class Convert {
    static final HttpClient HTTP = HttpClient.newHttpClient();

    static HttpRequest.Builder to(String url) {
        return HttpRequest.newBuilder(URI.create(url))
            .header("X-API-Key", System.getenv("PRESSLEDGER_API_KEY"))
            .header("Content-Type", "application/json")
            .header("Accept", "${made.type}")
            .header("Prefer", "wait=30");
    }

    static HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
        return HTTP.send(request.build(), BodyHandlers.ofByteArray());
    }

    public static void main(String[] arguments) throws Exception {
        var request = ${request};
        // The answer is the ${made.name} as soon as it is there, or a status after 30 seconds.
        var answer = send(to("${server}/api/v1/${path}").POST(BodyPublishers.ofString(request)));
        var file = answer.headers().firstValue("Location").orElse("") + "file/";
        while (answer.statusCode() == 202 || answer.statusCode() == 409) {
            answer = send(to(file));
        }
        if (answer.statusCode() != 200) {
            throw new Exception(new String(answer.body()));
        }
        Files.write(Path.of("${made.file}"), answer.body());
    }
}
`;
}
