/**
 * The canonical form of an event, which makes its leaf in the log's tree: JSON after RFC 8785 (JSON
 * Canonicalization Scheme). It leaves out the store's position, so it is the same on every event store.
 */
import type { CopiedEvent } from '../event-store/port.ts';

/**
 * JSON after RFC 8785: no white space, and an object's names in the order of their UTF-16 code units.
 * Numbers and strings are written as `JSON.stringify` writes them, which section 3.2.2 builds on. A
 * surrogate without its other half, on which the RFC gives up, becomes an escape as in `JSON.stringify`:
 * every event that can be stored must have a leaf. As there, names without a value are left out.
 * @throws {TypeError} a value that JSON does not have, such as NaN or a bigint
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    return `[${value.map((each) => canonicalJson(each ?? null)).join(',')}]`;
  }
  if (typeof value === 'object') return canonicalObject(value);
  throw new TypeError(`JSON has no such ${typeof value}.`);
}

/** Printable ASCII without quotation mark and backslash: nearly every text of an event. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Faster than `JSON.stringify` alone: every event of the log comes through here. */
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

function canonicalObject(value: object): string {
  let members = '';
  for (const name of Object.keys(value).toSorted()) {
    const member: unknown = value[name as keyof typeof value];
    if (member === undefined) continue;
    members += `${members && ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** The event as stored, neither upcast nor opened, in canonical form. */
export function canonicalEvent(event: CopiedEvent): string {
  const { id, stream, revision, type, data, metadata } = event;
  return canonicalJson({ data, id, metadata, revision, stream, type });
}
