/** Bundles of evidence: made over the API's parts, taken apart, and put together again after a change. */
import { buffer } from 'node:stream/consumers';
import { strFromU8, unzipSync } from 'fflate';
import { type BundleFiles, fileOf, zipOf } from '../../src/conversions/evidence/bundle.ts';
import { gatherEvidence } from '../../src/conversions/evidence/gather.ts';
import { currentKeys } from '../../src/log/transparency-log.ts';
import { ed25519Signer, verifierKey } from '../../src/transparency-log/signed-note.ts';
import { Difference, verifyEvidence } from '../../verifier/verify-evidence.mjs';
import type { Api } from './api.ts';
import { signingKey } from './signer.ts';

/** A key of that name which signs notes. */
export function noteSigner(generation: number, name: string) {
  const signer = ed25519Signer(name, signingKey(generation));
  return { ...signer, verifierKey: verifierKey(name, signer.publicKey) };
}

/** A bundle, and the log's newest verifier key. */
export async function bundleOf(api: Api, conversionId: string) {
  const { open, bytes, absent } = await gatherEvidence(api, conversionId);
  const zip = await buffer(open());
  if (zip.length !== bytes) throw new Error(`The ZIP has ${zip.length} bytes, not ${bytes}.`);
  const [key = ''] = await currentKeys(api);
  return { zip, absent: Object.fromEntries(absent), key };
}

/** The files of a bundle, in their order. */
export const filesOf = (zip: Buffer): Map<string, Buffer> =>
  new Map(Object.entries(unzipSync(zip)).map(([name, content]) => [name, Buffer.from(content)]));

export const textOf = (files: ReadonlyMap<string, Buffer>, name: string): string =>
  strFromU8(files.get(name) ?? new Uint8Array());

export const asFiles = (contents: ReadonlyMap<string, Buffer>): BundleFiles =>
  new Map([...contents].map(([name, content]) => [name, fileOf(content)]));

/** The same bundle with other contents: a whole ZIP, with its checksums. */
export function changed(
  zip: Buffer,
  changes: Readonly<Record<string, Buffer | string>>,
): Promise<Buffer> {
  const files = filesOf(zip);
  for (const [name, content] of Object.entries(changes)) files.set(name, Buffer.from(content));
  return buffer(zipOf(asFiles(files)));
}

/** The first difference that the verifier finds; undefined where it finds none. */
export async function differenceIn(
  zip: Buffer,
  key: string,
  witnesses: readonly string[] = [],
): Promise<Difference | undefined> {
  try {
    await verifyEvidence(zip, [key], witnesses);
    return undefined;
  } catch (error) {
    if (error instanceof Difference) return error;
    throw error;
  }
}

/** Those of the places whose change is not found. Several are tried at a time, for a check mostly waits. */
export async function unfoundAt(
  places: readonly number[],
  changeAt: (place: number) => Promise<Difference | undefined>,
): Promise<readonly number[]> {
  const left = places.values();
  const unfound: number[] = [];
  const tryThem = async () => {
    for (const place of left) if (!(await changeAt(place))) unfound.push(place);
  };
  await Promise.all([tryThem(), tryThem(), tryThem(), tryThem()]);
  return unfound;
}
