/** The manifest of a backup: the one file that says what belongs to it. It is replaced as the last step of a backup. */
import { hash } from 'node:crypto';
import Type from 'typebox';
import { Compile } from 'typebox/schema';
import { UnusableArchive } from './log-lines.ts';
import type { BackupPlace } from './places/port.ts';

export const MANIFEST = 'manifest.json';
/** Counted up when an older release could not read the backup. */
const FORMAT = 1;

/** A file of the backup that holds lines, as gzip. */
export interface LinesFile {
  readonly file: string;
  /** SHA-256 of the file, hex. */
  readonly sha256: string;
}

export interface Segment extends LinesFile {
  /** The number of its first event in the log, from 0. */
  readonly first: number;
  readonly events: number;
}

export interface Manifest {
  /** Made at random for each backup, and kept by its later calls. */
  readonly id: string;
  /** The time when this state was read from the log, in milliseconds since the Unix epoch. */
  readonly madeAt: number;
  /** Events that it holds: the log's first ones. */
  readonly events: number;
  /** The root hash of the tree over them, in base64. */
  readonly root: string;
  /** The roots of the tree's whole subtrees, from which it grows on. */
  readonly subtrees: readonly string[];
  /** Events of the log's own stream among them. */
  readonly logEvents: number;
  /** The newest checkpoint that is known, as it was signed; null where there is none. */
  readonly checkpoint: string | null;
  readonly segments: readonly Segment[];
  readonly index: (LinesFile & { readonly documents: number; readonly bytes: number }) | null;
}

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const SHA256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const ROOT = Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' });

/** Names are those that a backup gives: any other could lead out of the place, to be read or deleted. */
const manifests = Compile(
  Type.Object({
    id: Type.String(),
    madeAt: Count,
    events: Count,
    root: Type.Union([ROOT, Type.Literal('')]),
    subtrees: Type.Array(ROOT),
    logEvents: Count,
    checkpoint: Type.Union([Type.String(), Type.Null()]),
    segments: Type.Array(
      Type.Object({
        file: Type.String({ pattern: '^log/[0-9]+-[0-9]+\\.jsonl\\.gz$' }),
        sha256: SHA256,
        first: Count,
        events: Count,
      }),
    ),
    index: Type.Union([
      Type.Object({
        file: Type.String({ pattern: '^documents-[0-9a-f-]+\\.jsonl\\.gz$' }),
        sha256: SHA256,
        documents: Count,
        bytes: Count,
      }),
      Type.Null(),
    ]),
  }),
);

export const sha256Of = (content: Buffer | string): string => hash('sha256', content, 'hex');

/** @throws {UnusableArchive} */
export async function readManifest(place: BackupPlace): Promise<Manifest | undefined> {
  const content = await place.read(MANIFEST);
  if (content === undefined) return undefined;
  const [first = '', second = ''] = content.toString().split('\n');
  let head: Readonly<Record<string, unknown>>;
  try {
    head = JSON.parse(first) as typeof head;
  } catch (error) {
    throw damaged(error);
  }
  const { pressledger, format, sha256 } = head;
  if (pressledger !== 'backup') throw damaged();
  if (format !== FORMAT) {
    throw new UnusableArchive(
      `is a backup of format ${String(format)}, and this release reads format ${FORMAT}: use the release that wrote it.`,
    );
  }
  if (content.toString() !== `${first}\n${second}\n` || sha256 !== sha256Of(second)) {
    throw damaged();
  }
  const manifest: unknown = JSON.parse(second);
  if (!manifests.Check(manifest)) throw damaged();
  return manifest;
}

/** @throws {UnusableArchive} there is none */
export async function neededManifest(place: BackupPlace): Promise<Manifest> {
  const manifest = await readManifest(place);
  if (manifest === undefined || manifest.events === 0) {
    throw new UnusableArchive(
      manifest === undefined
        ? 'holds no backup: it has no manifest.json.'
        : 'holds a backup that was begun and never ended: repeat the backup.',
    );
  }
  return manifest;
}

const damaged = (cause?: unknown): UnusableArchive =>
  new UnusableArchive(`is damaged: ${MANIFEST} is not what was written.`, { cause });

export async function writeManifest(place: BackupPlace, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest);
  const head = { pressledger: 'backup', format: FORMAT, sha256: sha256Of(text) };
  await place.write(MANIFEST, Buffer.from(`${JSON.stringify(head)}\n${text}\n`));
}
