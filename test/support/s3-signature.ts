/** Checks a request's AWS signature, version 4, as a server does: written apart from what signs. */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const FORM =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/;

/** @returns the S3 error code of what is wrong; nothing when the request is as it was signed */
export function signatureFault(
  request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: Buffer,
  secrets: Readonly<Record<string, string>>,
  region: string,
): string | undefined {
  const header = (name: string): string => String(request.headers[name] ?? '');
  const [, keyId = '', day = '', signedRegion = '', names = '', signature] =
    FORM.exec(header('authorization')) ?? [];
  const secret = secrets[keyId];
  if (secret === undefined) return 'InvalidAccessKeyId';
  if (signedRegion !== region) return 'AuthorizationHeaderMalformed';
  const signed = names.split(';');
  const needed = [
    'host',
    ...Object.keys(request.headers).filter((each) => each.startsWith('x-amz-')),
  ];
  if (needed.some((each) => !signed.includes(each))) return 'AccessDenied';
  if (header('x-amz-content-sha256') !== sha256(body)) return 'XAmzContentSHA256Mismatch';

  const url = new URL(request.url ?? '', 'http://host');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
  const canonical = [
    request.method,
    url.pathname
      .split('/')
      .map((part) => encoded(decodeURIComponent(part)))
      .join('/'),
    query,
    ...signed.map((name) => `${name}:${header(name).trim()}`),
    '',
    names,
    header('x-amz-content-sha256'),
  ].join('\n');
  const date = header('x-amz-date');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}
