/** A keyring as one file: what lies in it, as it lies there. Every data key is wrapped by the master key. */
import { KEY_OWNER_ID } from '../domain/ids.ts';
import { sha256Of } from './manifest.ts';

/** Counted up when an older release could not read the file. Format 1 has keys of accounts alone. */
const FORMAT = 2;

/** The keyring's records, which say what they are by their names: see docs/operations.md. */
export interface KeyringSource {
  names(): Promise<readonly string[]>;
  read(name: string): Promise<string | undefined>;
}

export interface StoredKeyring {
  /** Milliseconds since the Unix epoch. */
  readonly madeAt: number;
  /** Differs for each master key, and does not give it away. */
  readonly masterKey: string;
  readonly records: ReadonlyMap<string, string>;
}

const KEY = '.key';
const ERASED = '.erased';
/** The ids of keyring and log, and keys of former master keys, sealed with the present one. */
const IDENTITY = ['keyring.id', 'keyring.log', 'keyring.secrets'];
/** A name becomes a path: any other could lead out of the keyring's folder. */
const RECORD = new RegExp(`^(?:${KEY_OWNER_ID}\\.(?:key|erased)|keyring\\.(?:id|log|secrets))$`);

/** @param names of records */
export function ownersOf(names: Iterable<string>, kind: 'keys' | 'erased'): ReadonlySet<string> {
  const suffix = kind === 'keys' ? KEY : ERASED;
  const those = [...names].filter((name) => name.endsWith(suffix));
  return new Set(those.map((name) => name.slice(0, -suffix.length)));
}

/** Reads a keyring that is in use. What is erased meanwhile has no key in it. */
export async function readKeyring(
  source: KeyringSource,
  masterKey: string,
  madeAt: number,
): Promise<StoredKeyring> {
  const records = new Map<string, string>();
  for (const name of (await source.names()).toSorted()) {
    if (!name.endsWith(KEY) && !name.endsWith(ERASED) && !IDENTITY.includes(name)) continue;
    const text = await source.read(name);
    if (text !== undefined) records.set(name, text);
  }
  // The tombstone comes before the key goes: one that was overwritten while it was read has one by now.
  for (const name of await source.names()) {
    if (!name.endsWith(ERASED)) continue;
    records.set(name, (await source.read(name)) ?? '');
    records.delete(`${name.slice(0, -ERASED.length)}${KEY}`);
  }
  return { madeAt, masterKey, records };
}

export function keyringText({ madeAt, masterKey, records }: StoredKeyring): string {
  const head = JSON.stringify({ pressledger: 'keyring', format: FORMAT, madeAt, masterKey });
  const lines = [...records].map(([name, text]) => JSON.stringify({ name, text }));
  const before = [head, ...lines].map((line) => `${line}\n`).join('');
  return `${before}${JSON.stringify({ records: records.size, sha256: sha256Of(before) })}\n`;
}

/** @throws {Error} one line, which goes on after the file's name */
export function parseKeyring(text: string): StoredKeyring {
  const lines = text.split('\n').slice(0, -1);
  const head = parsed(lines[0]);
  if (head === undefined) throw new Error(`is ${text === '' ? 'empty' : 'damaged or cut off'}.`);
  if (head['pressledger'] !== 'keyring') throw new Error('is not a keyring of a backup.');
  const { format, madeAt, masterKey } = head;
  if (format !== 1 && format !== FORMAT) {
    throw new Error(
      `is a keyring of format ${String(format)}, and this release reads formats 1 and ${FORMAT}: use the release that wrote it.`,
    );
  }
  const before = text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1);
  const sha256 = text.endsWith('\n') ? parsed(lines.at(-1))?.['sha256'] : undefined;
  if (sha256 === undefined) throw new Error('is cut off: it does not have its last line.');
  if (sha256 !== sha256Of(before)) throw new Error('is damaged: it is not what was written.');
  const records = lines.slice(1, -1).map((line) => {
    const { name, text: content } = parsed(line) ?? {};
    if (typeof name !== 'string' || typeof content !== 'string' || !RECORD.test(name)) {
      throw new Error('is damaged: it names what is not a record of a keyring.');
    }
    return [name, content] as const;
  });
  return { madeAt: Number(madeAt), masterKey: String(masterKey), records: new Map(records) };
}

function parsed(line = ''): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
