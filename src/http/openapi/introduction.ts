import type { Config } from '../../config.ts';

const size = (bytes: number): string =>
  bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes} bytes`;

const days = (seconds: number): string =>
  seconds % 86_400 === 0 ? `${seconds / 86_400} days` : `${seconds} seconds`;

/** What holds for all of the interface, with this service's own limits. CommonMark. */
export function describe(config: Config): string {
  return `
Send HTML or a URL to \`/api/v1/pdf/\`, follow the conversion at \`/api/v1/conversions/{id}/\`, and download the PDF from its \`file_url\`.

**Credentials.** An API key in \`X-API-Key\`, or an access token in \`Authorization: Bearer …\`.

**Bodies** are JSON in UTF-8 with \`Content-Type: application/json\`, at most ${size(config.maxBodyBytes)}; their \`html\` at most ${size(config.maxHtmlBytes)}. Unknown fields are refused. Times are ISO 8601 in UTC.

**Errors** have one shape: \`{"error", "message", "details"?}\`. Decide by \`error\`; show \`message\`. Where several fields are wrong, \`details\` names all of them at once.

**Rate limits** count requests in a minute: ${config.rateLimitFree} on the plan free, ${config.rateLimitStarter} on starter, ${config.rateLimitPro} on pro, over all credentials of the account; ${config.rateLimitAnonymous} for an address without a valid credential. Every answer below \`/api/v1\` shows how they stand; after 429 wait as long as \`Retry-After\` says.

**Lists** are JSON arrays, newest first; \`X-Total-Count\` and \`Link\` lead to the other pages.

**Links and files.** A \`file_url\` holds for ${config.fileUrlTtlSeconds} seconds; each look at the record gives a fresh one. Files are kept for ${days(config.retentionSeconds)}.

**HEAD** is answered as GET is, without a body.
`.trim();
}
