/** `s3://bucket[/prefix]?region=…&endpoint=…&path_style=…`: where a bucket lies, without its credentials. */
import { errorMessage } from '../errors/error-message.ts';

export interface S3Location {
  readonly bucket: string;
  /** Before every key: empty, or ending in `/`. */
  readonly prefix: string;
  readonly region: string;
  /** An origin, such as `https://minio.example:9000`. */
  readonly endpoint: string;
  /** The bucket is the path's first part, not a part of the host's name. */
  readonly pathStyle: boolean;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^[\w.-]+(\/[\w.-]+)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const PARAMETERS = ['region', 'endpoint', 'path_style'];
const FORM = 's3://bucket/prefix?region=eu-central-1&endpoint=https://minio.example:9000';

/**
 * Region: `us-east-1` unless given, which is what servers without regions take. Endpoint: AWS unless
 * given. Path style: with an endpoint of one's own, unless `path_style=false`.
 * @param name of what the text was given as, for messages
 * @throws {Error} one line that says what is wrong, without the text itself, which may hold a secret
 */
export function parseS3Url(text: string, name = 'BLOB_STORE_URL'): S3Location {
  try {
    return locationIn(text);
  } catch (error) {
    throw new Error(`${name} cannot be used: ${errorMessage(error)}.`, { cause: error });
  }
}

function locationIn(text: string): S3Location {
  const url = URL.canParse(text) ? new URL(text) : refuse(`it is not a URL such as ${FORM}`);
  if (url.protocol !== 's3:') refuse(`it is not a URL such as ${FORM}`);
  if (url.username !== '' || url.password !== '') {
    refuse('it holds credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead');
  }
  if (!BUCKET.test(url.host)) refuse('the bucket, before the first slash, is not the name of one');
  const folder = url.pathname.replace(/^\/|\/$/g, '');
  if (folder !== '' && !PREFIX.test(folder)) {
    refuse('the prefix may have letters, digits, "_", "-", "." and single slashes only');
  }
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name) || url.searchParams.getAll(name).length > 1) {
      refuse(`it may have ${PARAMETERS.join(', ')}, each once, and nothing else`);
    }
  }
  if (url.hash !== '') refuse('it has a fragment');
  const region = url.searchParams.get('region') ?? 'us-east-1';
  if (!REGION.test(region)) refuse('region is not the name of one, such as eu-central-1');
  const given = url.searchParams.get('endpoint');
  return {
    bucket: url.host,
    prefix: folder === '' ? '' : `${folder}/`,
    region,
    endpoint: given === null ? `https://s3.${region}.amazonaws.com` : endpointOf(given),
    pathStyle: booleanOf(url.searchParams.get('path_style'), given !== null),
  };
}

function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    `${url.origin}/` !== url.href
  ) {
    return refuse('endpoint is not an http or https origin such as https://minio.example:9000');
  }
  return url.origin;
}

function booleanOf(text: string | null, otherwise: boolean): boolean {
  if (text === null) return otherwise;
  return text === 'true' || (text === 'false' ? false : refuse('path_style is true or false'));
}

function refuse(why: string): never {
  throw new Error(why);
}
