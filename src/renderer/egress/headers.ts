import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

// RFC 9110, section 7.6.1, and what is between Chrome and this proxy only.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function forwarded(message: IncomingMessage): (name: string) => boolean {
  const named = (message.headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  return (name) => {
    const lower = name.toLowerCase();
    return (
      !HOP_BY_HOP.has(lower) &&
      !named.includes(lower) &&
      !lower.startsWith('proxy-') &&
      !lower.startsWith('x-egress-')
    );
  };
}

/** The headers of Chrome's request for the server; Host is the one of the URL that was checked. */
export function requestHeaders(request: IncomingMessage, host: string): OutgoingHttpHeaders {
  const keep = forwarded(request);
  const headers: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (values !== undefined && keep(name) && name !== 'expect') headers[name] = values;
  }
  headers['host'] = host;
  headers['connection'] = 'close';
  // Node frames the body anew; it must only know that its length is not given.
  if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  return headers;
}

/** The headers of the server's answer for Chrome, as a flat list of names and values. */
export function responseHeaders(response: IncomingMessage): string[] {
  const keep = forwarded(response);
  const headers: string[] = [];
  for (let index = 0; index + 1 < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index] ?? '';
    if (keep(name)) headers.push(name, response.rawHeaders[index + 1] ?? '');
  }
  return headers;
}
