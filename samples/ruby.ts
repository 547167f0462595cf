import { REQUEST_FILE, type SampleRequest } from './json.ts';

export function rubySample({ json, server, path, made }: SampleRequest): string {
  const [request, text] =
    json === undefined ? [`File.read('${REQUEST_FILE}')`, ''] : ["<<'JSON'", `${json}\nJSON\n`];
  return `require 'net/http'

request = ${request}
${text}
def ask(uri, body = nil)
  headers = {
    'X-API-Key' => ENV.fetch('PRESSLEDGER_API_KEY'),
    'Content-Type' => 'application/json',
    'Accept' => '${made.type}',
    'Prefer' => 'wait=30',
  }
  Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') do |http|
    http.send_request(body ? 'POST' : 'GET', uri.path, body, headers)
  end
end

# The answer is the ${made.name} as soon as it is there, or a status after 30 seconds.
answer = ask(URI('${server}/api/v1/${path}'), request)
file = URI("#{answer['Location']}file/")
answer = ask(file) while %w[202 409].include?(answer.code)
abort answer.body unless answer.code == '200'
File.binwrite('${made.file}', answer.body)
`;
}
