/** The files of a bundle of evidence in one ZIP, and the list of them that the log signs. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Format } from '../../domain/choices.ts';

export type DocumentName = `document.${Format}` | 'request.json' | 'manifest.json';

/** The documents of a conversion, as far as they are there. */
export const documentNames = (format: Format): readonly DocumentName[] => [
  `document.${format}`,
  'request.json',
  'manifest.json',
];

/** The documents that are not there, each with the reason in a sentence. */
export type Absent = ReadonlyMap<DocumentName, string>;

/** A content that may be too long to hold. */
export interface BundleFile {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  readonly crc32: number;
  open(): Promise<AsyncIterable<Buffer>>;
}

/** Files of a bundle by their names, in their order. */
export type BundleFiles = ReadonlyMap<string, BundleFile>;

export function fileOf(content: Buffer | string): BundleFile {
  const buffer = Buffer.from(content);
  return {
    bytes: buffer.length,
    sha256: createHash('sha256').update(buffer).digest('hex'),
    crc32: crc32(buffer),
    open: async () => toAsync([buffer]),
  };
}

/** A content that is read each time that it is asked for, and never held: a slow client would keep it for long. */
export async function fileFrom(open: BundleFile['open']): Promise<BundleFile> {
  const hash = createHash('sha256');
  let [bytes, checksum] = [0, 0];
  for await (const chunk of await open()) {
    hash.update(chunk);
    checksum = crc32(chunk, checksum);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex'), crc32: checksum, open };
}

async function* toAsync<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/**
 * The text of the list, which a note signs. Its second line keeps it from being taken for a checkpoint, where
 * that line is a number. The lines of files are those of sha256sum.
 */
export function contentsText(
  of: { readonly origin: string; readonly conversionId: string },
  absent: Absent,
  files: BundleFiles,
): string {
  const lines = [
    'pressledger-evidence/v1',
    `origin ${of.origin}`,
    `conversion ${of.conversionId}`,
    ...[...absent].map(([name, reason]) => `absent ${name}: ${reason}`),
    ...[...files].map(([name, { sha256 }]) => `${sha256}  ${name}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const LOCAL_HEADER_BYTES = 30;
const CENTRAL_HEADER_BYTES = 46;
const END_BYTES = 22;
/** Midnight, 1 January 1980: the first that the format can tell. */
const DATE = 33;

/** The length of the ZIP. */
export function zipBytes(files: BundleFiles): number {
  const perFile = [...files].map(
    ([name, { bytes }]) =>
      LOCAL_HEADER_BYTES + CENTRAL_HEADER_BYTES + 2 * Buffer.byteLength(name) + bytes,
  );
  return perFile.reduce((sum, bytes) => sum + bytes, END_BYTES);
}

/** The part that the headers of a file before its content and in the directory share. */
function sharedHeader(name: string, { bytes, crc32: checksum }: BundleFile): Buffer {
  const header = Buffer.alloc(26);
  // Version 2.0; no flags, not compressed, at midnight: zeros.
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(DATE, 8);
  header.writeUInt32LE(checksum, 10);
  header.writeUInt32LE(bytes, 14);
  header.writeUInt32LE(bytes, 18);
  header.writeUInt16LE(Buffer.byteLength(name), 22);
  return header;
}

/**
 * A ZIP in the one form that the verifier accepts (PKWARE APPNOTE): files as they are, all of one date. So the
 * same files are the same bytes, and none is ever held as a whole.
 */
export async function* zipOf(files: BundleFiles): AsyncGenerator<Buffer> {
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, file] of files) {
    const shared = sharedHeader(name, file);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), shared, place, Buffer.from(name));
    yield Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name)]);
    yield* await file.open();
    offset += LOCAL_HEADER_BYTES + Buffer.byteLength(name) + file.bytes;
  }
  const end = Buffer.alloc(END_BYTES);
  end.write('PK\x05\x06');
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  yield Buffer.concat([...directory, end]);
}
