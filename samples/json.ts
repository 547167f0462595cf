/** The request as JSON that can stand in the source text of any language. */

/** A part of the body of a request. */
export type Values = Readonly<Record<string, unknown>>;

/** Larger requests have no place in the samples, which then read them from a file. Java takes no text of more bytes. */
const LONGEST_BYTES = 40_000;
/** The name of that file. */
export const REQUEST_FILE = 'request.json';

export const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');

/**
 * Characters that are not seen are written as escapes: some end a line in some languages, some are not allowed
 * in a source text, and some would show the text in another order than it has. Line ends here are those of
 * the layout: JSON has escaped all others.
 */
export const visible = (json: string): string =>
  json.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? character : escaped(character),
  );

export const jsonOf = (request: object): string => visible(JSON.stringify(request, undefined, 2));

/** @returns the text; `undefined` where it is too long to be part of a sample */
export function shortJsonOf(request: object): string | undefined {
  const json = jsonOf(request);
  return new TextEncoder().encode(json).length > LONGEST_BYTES ? undefined : json;
}

/** The facts that a sample is made of. */
export interface SampleRequest {
  readonly request: Values;
  /** `undefined` where it is too long to be part of the sample. */
  readonly json: string | undefined;
  /** The service's origin. */
  readonly server: string;
  /** What the request is sent to, below the address of the API. */
  readonly path: 'pdf/' | 'documents/';
  /** What is made: its media type, the file that keeps it, and its name in sentences. */
  readonly made: { readonly type: string; readonly file: string; readonly name: string };
}

function madeBy({ format = 'pdf' }: Values): SampleRequest['made'] {
  const isPicture = format === 'png' || format === 'jpeg' || format === 'webp';
  return isPicture
    ? { type: `image/${format}`, file: `picture.${format}`, name: 'picture' }
    : { type: 'application/pdf', file: 'document.pdf', name: 'PDF' };
}

export function sampleRequest(
  request: Values,
  server: string,
  path: SampleRequest['path'] = 'pdf/',
): SampleRequest {
  return {
    request,
    json: shortJsonOf(request),
    server,
    path,
    made: madeBy(request),
  };
}

/** Indents all lines but the first. */
export const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);
