#!/usr/bin/env node
/**
 * Checks a bundle that `pressledger evidence` wrote. It needs Node 20.16 or later and this file alone: no
 * package, no network, no service. The dashboard runs the same checks in browsers, so they use nothing of
 * Node: the cryptography is Web Crypto's.
 *     node verify-evidence.mjs BUNDLE.zip --key KEY [--witness KEY]...
 * KEY is a verifier key of the log, or a file that holds it. Take it from the service (`/tlog/key`) or from
 * your own records, never from the bundle: everything below rests on it. Each section is one step.
 *
 * 1. The ZIP is nothing but its files: written again from them, it has the same bytes.
 * 2. `contents.txt` is signed with KEY and names every other file with its SHA-256: no byte was altered.
 * 3. `checkpoint` is signed with KEY: the number of events in the log, and the root of its Merkle tree.
 * 4. Each line of `events.jsonl` is an event of the log: its hash and its proof lead to that root.
 * 5. Request, manifest and PDF are those that the events name, the PDF with the signature that was made for
 *    it; the report shows the same events.
 *
 * Step 2 shows that the service wrote the bundle. Steps 3 to 5 show what its log says, which it cannot
 * change any more once others have the checkpoint. What only step 2 covers is told as "signed, not proved".
 * No bundle can show that nothing happened after its last event, or that no refund was left out.
 */
/** The first thing that is not as it must be. `at` says where: a file, and what of it. */
export class Difference extends Error {
  constructor(at, expected, found) {
    super(`${Object.values(at).join(', ')}: expected ${expected}, found ${found}`);
    Object.assign(this, { at, expected, found });
  }
}

function mustBe(file, of, expected, found) {
  if (expected !== found) throw new Difference({ file, of }, expected, found);
}

// Bytes, and the texts that stand for them.

const utf8 = (text) => new TextEncoder().encode(text);
const textOf = (bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
/** A character for each byte. */
const latin1 = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const fromHex = (text) => Uint8Array.from(text.match(/../g), (pair) => Number.parseInt(pair, 16));
export const base64 = (bytes) => btoa(latin1(bytes));

/** No bytes where the text is not base64: then it is not what it must be either. */
export function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Looked up when it is used: a browser has none on a page that came over plain HTTP. */
const subtle = () => globalThis.crypto.subtle;

export const sha256 = async (...parts) =>
  new Uint8Array(await subtle().digest('SHA-256', parts.length === 1 ? parts[0] : joined(parts)));
export const hexSha256 = async (content) => hex(await sha256(content));

// 1. The ZIP. Only one form is accepted: files stored without compression, all of the same date, without
// comments, extra fields or gaps. Else other content could hide there, for other programs to show.

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255];
  return ~crc >>> 0;
}

/** Numbers, little-endian, each as wide as its digit in `widths` says. */
const packed = (widths, ...numbers) =>
  Uint8Array.from(
    numbers.flatMap((number, n) =>
      Array.from({ length: Number(widths[n]) }, (_, byte) => number >>> (8 * byte)),
    ),
  );

function zipOf(files) {
  const [entries, directory] = [[], []];
  let [offset, length] = [0, 0];
  for (const [name, content] of files) {
    const size = content.length;
    // Version 2.0, no flags, stored, midnight, 1 January 1980, CRC-32, length twice, no extra field.
    const facts = packed('2222244422', 20, 0, 0, 0, 33, crc32(content), size, size, name.length, 0);
    const place = packed('22244', 0, 0, 0, 0, offset);
    entries.push(utf8('PK\x03\x04'), facts, utf8(name), content);
    directory.push(utf8('PK\x01\x02\x14\x00'), facts, place, utf8(name));
    offset += 4 + facts.length + name.length + size;
    length += 6 + facts.length + place.length + name.length;
  }
  const end = packed('2222442', 0, 0, files.size, files.size, length, offset, 0);
  return joined([...entries, ...directory, utf8('PK\x05\x06'), end]);
}

function filesOf(zip) {
  const numbers = new DataView(zip.buffer, zip.byteOffset, zip.length);
  const files = new Map();
  let at = 0;
  mustBe('the ZIP', 'beginning', 'PK\x03\x04', latin1(zip.subarray(0, 4)));
  while (numbers.getUint32(at, true) === 0x04034b50) {
    const start = at + 30 + numbers.getUint16(at + 26, true);
    const name = latin1(zip.subarray(at + 30, start));
    mustBe('the ZIP', `the name of file ${files.size + 1}`, name.replaceAll(/[^\w.-]/g, ''), name);
    mustBe(name, 'method of compression', 0, numbers.getUint16(at + 8, true));
    at = start + numbers.getUint32(at + 18, true);
    files.set(name, zip.subarray(start, at));
  }
  return files;
}

function mustBeNothingBut(files, zip) {
  const made = zipOf(files);
  mustBe('the ZIP', 'length', made.length, zip.length);
  const other = made.findIndex((byte, n) => byte !== zip[n]);
  mustBe('the ZIP', `byte ${other}`, made[other], zip[other]);
}

// 2. and 3. Signed notes, with Ed25519 (https://c2sp.org/signed-note, https://c2sp.org/tlog-cosignature).

/** Reads `name+id+key`. Keys of type 1 sign notes; those of type 4 are witnesses', who sign a time too. */
export async function parseKey(text, type) {
  const [, name = '', id, material = ''] =
    /^([^\s+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text.trim()) ?? [];
  const key = fromBase64(material);
  const isKey = key.length === 33 && key[0] === type;
  if (!isKey || hex((await sha256(utf8(`${name}\n`), key)).subarray(0, 4)) !== id) {
    throw new Error(`${text} is not a verifier key of type ${type} (1: a log's, 4: a witness's).`);
  }
  const publicKey = await subtle().importKey('raw', key.subarray(1), 'Ed25519', false, ['verify']);
  return { name, id, type, publicKey, text: `${name}+${id}+${base64(key)}` };
}

/** The lines of a note; the texts of those of `keys` whose signatures it has; the names of other signers. */
export async function openNote(file, note, keys) {
  const end = note.lastIndexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const [signers, others] = [[], []];
  const lines = note.slice(end + 1).split('\n');
  mustBe(file, 'its end', '', lines.pop());
  for (const line of lines) {
    const [, name, material = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = fromBase64(material);
    mustBe(file, 'a line of a signature', `— ${name} ${base64(bytes)}`, line);
    const id = hex(bytes.subarray(0, 4));
    // An id is short: somebody can make a key that has the same. The first of `keys` counts.
    const key = keys.find((each) => each.name === name && each.id === id);
    if (key) {
      const signature = bytes.subarray(key.type === 4 ? 12 : 4);
      const seconds = () => new DataView(bytes.buffer).getBigUint64(4);
      const time = key.type === 4 ? `cosignature/v1\ntime ${seconds()}\n` : '';
      const message = utf8(time + text);
      const holds = await subtle().verify('Ed25519', key.publicKey, signature, message);
      mustBe(file, `the signature of ${name}+${id} holds`, true, holds);
      signers.push(key.text);
    } else others.push(`${name}+${id}`);
  }
  return { lines: text.slice(0, -1).split('\n'), signers, others };
}

// 4. The log's Merkle tree (RFC 9162, 2.1.3.2). BigInt, for an index may have more than 32 bits.

/** The root hash that a leaf and its proof lead to, base64. */
async function rootFrom(leaf, index, size, proof) {
  let [node, last, hash] = [BigInt(index), BigInt(size) - 1n, leaf];
  if (node > last) return 'an index beyond the tree';
  for (const sibling of proof) {
    if (last === 0n) return 'too long a proof';
    if (node % 2n === 1n || node === last) {
      hash = await sha256(Uint8Array.of(1), sibling, hash);
      while (node % 2n === 0n && node !== 0n) [node, last] = [node / 2n, last / 2n];
    } else hash = await sha256(Uint8Array.of(1), hash, sibling);
    [node, last] = [node / 2n, last / 2n];
  }
  return last === 0n ? base64(hash) : 'too short a proof';
}

/** The hash of an event is in the log, by its https://c2sp.org/tlog-proof. */
export async function mustBeInLog(file, { index, leaf, proof }, { note, size, root }) {
  const end = proof.indexOf('\n\n');
  const [format, indexLine, ...hashes] = proof.slice(0, end).split('\n');
  mustBe(file, 'proof', `c2sp.org/tlog-proof@v1, index ${index}`, `${format}, ${indexLine}`);
  mustBe(file, 'checkpoint', note, proof.slice(end + 2));
  mustBe(file, 'root hash', root, await rootFrom(leaf, index, size, hashes.map(fromBase64)));
}

/** An event whose text is as the log has it. */
async function provedEvent(place, { index, event: text, proof }, checkpoint) {
  const file = `${place}, event ${index}`;
  const leaf = await sha256(Uint8Array.of(0), utf8(text));
  await mustBeInLog(file, { index, leaf, proof }, checkpoint);
  const event = JSON.parse(text);
  const time = new Date(event.metadata.time).toISOString();
  return { ...event, index, time, leaf: base64(leaf), file };
}

/** The events of one conversion, in the log's order, those of its stream and of its deliveries' without a gap. */
export async function provedEvents(place, entries, checkpoint, id) {
  const events = [];
  for (const entry of entries) events.push(await provedEvent(place, entry, checkpoint));
  const ofAccount = `account-${events[0]?.data.accountId}`;
  const begin = events.slice(0, 2).map(({ type }) => type);
  mustBe(place, 'its beginning', 'CreditDebited,ConversionRequested', begin.join());
  const counts = new Map();
  for (const [n, { file, stream, revision, index, data }] of events.entries()) {
    mustBe(file, 'conversion', id, data.conversionId);
    const own = data.deliveryId ? `delivery-${data.deliveryId}` : `conversion-${id}`;
    if (stream !== own) mustBe(file, 'stream', ofAccount, stream);
    else {
      const count = counts.get(own) ?? 0;
      mustBe(file, 'revision', count, revision);
      counts.set(own, count + 1);
    }
    mustBe(file, 'in order', true, n === 0 || index > events[n - 1].index);
  }
  return events;
}

/** The event of that type; there is one at most. */
const dataIn = (events, wantedType) => events.find(({ type }) => type === wantedType)?.data;

/** The events of the signatures that were made for the try that completed. */
function signaturesMade(events, { attempt, signature }) {
  const isMade = ({ type, data }) =>
    type === 'SignatureMade' &&
    data.attempt === attempt &&
    data.level === signature.level &&
    data.certificate === signature.certificate;
  return events.filter(isMade);
}

/** A PDF has a signature where its request asks for one, and it is one that was made for its try. */
export function mustBeSignedAsAsked(place, events) {
  const completed = dataIn(events, 'ConversionCompleted');
  if (completed === undefined) return;
  const isAsked = dataIn(events, 'ConversionRequested').signedBy !== undefined;
  mustBe(place, 'is signed', isAsked, completed.signature !== undefined);
  if (!isAsked) return;
  const isMade = signaturesMade(events, completed).length > 0;
  mustBe(place, 'signature made for its try', true, isMade);
}

// The signature in a PDF (PAdES): CMS (RFC 5652) between the two parts of the file that it signs.

/** The values that some DER consists of, one after the other. */
function* derIn(bytes) {
  for (let at = 0; at < bytes.length; ) {
    let [start, length] = [at + 2, bytes[at + 1]];
    if (length > 0x80) {
      start += length & 0x7f;
      length = bytes.subarray(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
    }
    const end = start + length;
    if (!(end <= bytes.length)) throw new Error('a value that is cut off');
    const whole = bytes.subarray(at, end);
    yield { tag: bytes[at], whole, inner: whole.subarray(start - at) };
    at = end;
  }
}
const partsOf = (value) => [...derIn(value.inner)];

const OIDS = { messageDigest: '06092a864886f70d010904', rsa: '06092a864886f70d010101' };
/** By the name of the curve: the bytes of a number of its signatures. */
const CURVES = { '06082a8648ce3d030107': ['P-256', 32], '06052b81040022': ['P-384', 48] };

/** Web Crypto has the numbers of an ECDSA signature without DER, each as long as the key. */
const plainEcdsa = (signature, bytes) =>
  joined(
    partsOf([...derIn(signature)][0]).map(({ inner }) => {
      const number = inner.subarray(Math.max(0, inner.length - bytes));
      return joined([new Uint8Array(bytes - number.length), number]);
    }),
  );

/** True if the certificate's key made the signature of the message. */
async function holdsBy(certificate, signature, message) {
  const fields = partsOf(partsOf([...derIn(certificate)][0])[0]);
  // A version is not in certificates of the first one.
  const { whole: spki } = fields[fields[0].tag === 0xa0 ? 6 : 5];
  const [algorithm, parameters] = partsOf(partsOf([...derIn(spki)][0])[0]);
  const isRsa = hex(algorithm.whole) === OIDS.rsa;
  const [namedCurve, bytes] = (isRsa ? undefined : CURVES[hex(parameters.whole)]) ?? [];
  const scheme = isRsa
    ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    : { name: 'ECDSA', namedCurve, hash: 'SHA-256' };
  const key = await subtle().importKey('spki', spki, scheme, false, ['verify']);
  const plain = isRsa ? signature : plainEcdsa(signature, bytes);
  return subtle().verify(scheme, key, plain, message);
}

/** What a CMS signature says, and whether it holds by the certificate with that SHA-256. */
async function openSignature(cms, certificateSha256) {
  const [, wrapped] = partsOf(derIn(cms).next().value);
  const parts = partsOf(partsOf(wrapped)[0]);
  const certificates = partsOf(parts.find(({ tag }) => tag === 0xa0));
  const [signer] = partsOf(parts.at(-1));
  const fields = partsOf(signer);
  const attributes = fields.find(({ tag }) => tag === 0xa0);
  const signature = fields.find(({ tag }) => tag === 0x04);
  const digest = partsOf(attributes)
    .map(partsOf)
    .find(([type]) => hex(type.whole) === OIDS.messageDigest);
  // They are signed as a set, and stored under another tag (RFC 5652, 5.4).
  const message = joined([Uint8Array.of(0x31), attributes.whole.subarray(1)]);
  const hashes = await Promise.all(certificates.map(({ whole }) => hexSha256(whole)));
  const own = certificates[hashes.indexOf(certificateSha256)];
  return {
    digest: hex(partsOf(digest[1])[0].inner),
    hashes,
    holds: own !== undefined && (await holdsBy(own.whole, signature.inner, message)),
  };
}

/** The parts of a PDF around its signature of the whole file, and the signature; undefined where it has none. */
function signedParts(pdf) {
  // A character for each byte, also in a large file.
  const text = new TextDecoder('latin1').decode(pdf);
  for (const found of text.matchAll(/\/ByteRange\s*\[\s*0\s+(\d+)\s+(\d+)\s+(\d+)\s*\]/g)) {
    const [from, to, rest] = found.slice(1).map(Number);
    const [, digits] = /^<((?:[0-9A-Fa-f]{2})+)>$/.exec(text.slice(from, to)) ?? [];
    if (digits !== undefined && to + rest === pdf.length) {
      return { before: pdf.subarray(0, from), cms: fromHex(digits), after: pdf.subarray(to) };
    }
  }
  return undefined;
}

/** A PDF that the log calls signed has the signature that was made for its try, of exactly its bytes. */
export async function mustBearSignature(file, pdf, events) {
  const completed = dataIn(events, 'ConversionCompleted');
  if (completed?.signature === undefined) return;
  const parts = signedParts(pdf);
  mustBe(file, 'has a signature of the whole file', true, parts !== undefined);
  const signed = hex(await sha256(parts.before, parts.after));
  const made = signaturesMade(events, completed).map(({ data }) => data.digest);
  const digest = made.find((each) => each === signed) ?? made.join(' or ');
  mustBe(file, 'SHA-256 of the bytes that its signature is of', digest, signed);
  const { certificate } = completed.signature;
  const opened = await openSignature(parts.cms, certificate).catch(() => undefined);
  mustBe(file, 'signature that can be read', true, opened !== undefined);
  mustBe(file, 'SHA-256 that its signature says', digest, opened.digest);
  const { hashes } = opened;
  const found = hashes.includes(certificate) ? certificate : hashes.join();
  mustBe(file, 'certificate of its signature', certificate, found);
  mustBe(file, 'signature that holds', true, opened.holds);
}

// 5. The documents and the report.

const visible = (html) => html.replaceAll(/(<[^>]*>|\s)+/g, ' ').trim();
const escaped = (text) => text.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);

/** SHA-256 of the encrypted form: AES-256-GCM in frames of 64 KiB, with what `keys.json` discloses. */
async function encryptedSha256(content, opening) {
  const parts = [fromHex(opening.header)];
  const key = await subtle().importKey('raw', fromHex(opening.key), 'AES-GCM', false, ['encrypt']);
  const frames = Math.max(1, Math.ceil(content.length / 65536));
  for (let index = 0; index < frames; index += 1) {
    const iv = new Uint8Array(12);
    new DataView(iv.buffer).setUint32(7, index);
    iv[11] = index === frames - 1 ? 1 : 0;
    const frame = content.subarray(index * 65536, (index + 1) * 65536);
    parts.push(new Uint8Array(await subtle().encrypt({ name: 'AES-GCM', iv }, key, frame)));
  }
  return hexSha256(joined(parts));
}

async function hmacSha256(content, keyHex) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle().importKey('raw', fromHex(keyHex), algorithm, false, ['sign']);
  return hex(new Uint8Array(await subtle().sign('HMAC', key, content)));
}

async function checked(zip, keys, witnesses, onPassed) {
  const files = filesOf(zip);
  const textIn = (name) => {
    mustBe(name, 'file', 'there', files.has(name) ? 'there' : 'missing');
    return textOf(files.get(name));
  };

  // 2. The list, which the keys of the log that were in force have signed; KEY is one of them.
  const keyLines = textIn('log-key.txt').trimEnd().split('\n');
  const inForce = await Promise.all(keyLines.map((line) => parseKey(line, 1)));
  const list = await openNote('contents.txt', textIn('contents.txt'), [...keys, ...inForce]);
  mustBe('contents.txt', 'signers', textsOf(inForce), [...list.signers, ...list.others].join());
  mustBeSigned('contents.txt', keys, list.signers);
  const [format, originLine, conversionLine, ...lines] = list.lines;
  mustBe('contents.txt', 'format', 'pressledger-evidence/v1', format);
  const absent = lines.filter((line) => line.startsWith('absent '));
  const listed = lines.slice(absent.length).map((line) => line.split('  '));
  const names = [...listed.map(([, name]) => name), 'contents.txt'].join();
  mustBe('the ZIP', 'files', names, [...files.keys()].join());
  for (const [hash, name] of listed) {
    mustBe(name, 'SHA-256', hash, await hexSha256(files.get(name)));
  }
  mustBeNothingBut(files, zip);
  onPassed('files');

  // 3. The checkpoint.
  const note = textIn('checkpoint');
  const checkpoint = await openNote('checkpoint', note, [...keys, ...inForce, ...witnesses]);
  mustBeSigned('checkpoint', keys, checkpoint.signers);
  for (const each of witnesses) mustBeSigned('checkpoint', [each], checkpoint.signers);
  const [origin, size, root] = checkpoint.lines;
  for (const { name } of keys) mustBe('checkpoint', 'origin', name, origin);
  mustBe('contents.txt', 'origin', `origin ${origin}`, originLine);
  // A timestamp is of the checkpoint without witnesses. `openssl ts` checks who gave it: see README.txt.
  const isOfLog = (line) => !line.startsWith('— ') || line.startsWith(`— ${origin} `);
  const digest = await sha256(utf8(note.split('\n').filter(isOfLog).join('\n')));
  const token = files.get('checkpoint.tst');
  const isTimestamped = token === undefined || latin1(token).includes(latin1(digest));
  mustBe('checkpoint.tst', 'is of the checkpoint', true, isTimestamped);
  onPassed('checkpoint');

  // 4. The events.
  const rows = textIn('events.jsonl')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row));
  const id = conversionLine.replace('conversion ', '');
  const events = await provedEvents('events.jsonl', rows, { note, size, root }, id);
  mustBeSignedAsAsked('events.jsonl', events);
  onPassed('events');

  // 5. The documents: each is the one that its event names, or the list says why it is absent.
  const dataOf = (wantedType) => dataIn(events, wantedType);
  const [requested, completed] = ['ConversionRequested', 'ConversionCompleted'].map(dataOf);
  const opening = JSON.parse(textIn('keys.json'));
  const proved = new Map([
    [`document.${requested?.options.format ?? 'pdf'}`, [completed?.pdf.sha256, hexSha256]],
    ['request.json', [requested?.requestHmac, (json) => hmacSha256(json, opening.request)]],
    ['manifest.json', [completed?.manifest.sha256, (m) => encryptedSha256(m, opening.manifest)]],
  ]);
  for (const [name, [expected, digestOf]] of proved) {
    const isAbsent = absent.some((line) => line.startsWith(`absent ${name}: `));
    mustBe(name, 'absent', isAbsent, !files.has(name));
    if (isAbsent) proved.delete(name);
    else mustBe(name, 'digest', expected, await digestOf(files.get(name)));
  }
  if (proved.has('document.pdf')) {
    await mustBearSignature('document.pdf', files.get('document.pdf'), events);
  }
  onPassed('documents');

  // The report: its visible text has what was proved, and one item for each event.
  const report = textIn('report.html');
  for (const each of [id, origin, size, root, completed?.pdf.sha256 ?? '']) {
    mustBe('report.html', each, true, visible(report).includes(escaped(each)));
  }
  const items = [...report.matchAll(/<li id="event-\d+"><p>(.*?)<\/p>/gs)].map(([, html]) => html);
  mustBe('report.html', 'number of events', events.length, items.length);
  for (const [n, { index, time, type, leaf }] of events.entries()) {
    mustBe('report.html', 'event', `#${index} ${time} ${type} ${leaf}`, visible(items[n]));
  }
  onPassed('report');

  const evident = ['events.jsonl', 'checkpoint', 'log-key.txt', 'keys.json', 'contents.txt'];
  const signed = [...files.keys()].filter((name) => !proved.has(name) && !evident.includes(name));
  const found = { conversion: id, origin, size: Number(size), root, proved: [...proved.keys()] };
  const facts = events.map(({ index, time, type }) => ({ index, time, type }));
  return { ok: true, ...found, events: facts, signed, absent, not_checked: checkpoint.others };
}

const textsOf = (keys) => keys.map(({ text }) => text).join();

/** Any one of the keys will do. */
export function mustBeSigned(file, keys, signers) {
  const isSigned = keys.some(({ text }) => signers.includes(text));
  mustBe(file, 'signed by', textsOf(keys), isSigned ? textsOf(keys) : signers.join());
}

/**
 * Checks a bundle. `keys` are verifier keys of the log, one of which must have signed it; `witnesses` those
 * of witnesses, each of which must have cosigned the checkpoint. Throws a `Difference`. `onPassed` gets the
 * name of each group of checks that holds, in the order of `GROUPS`.
 */
export async function verifyEvidence(zip, keys, witnesses = [], onPassed = () => {}) {
  const ofLog = await Promise.all(keys.map((text) => parseKey(text, 1)));
  const ofWitnesses = await Promise.all(witnesses.map((text) => parseKey(text, 4)));
  try {
    return await checked(zip, ofLog, ofWitnesses, onPassed);
  } catch (error) {
    if (error instanceof Difference) throw error;
    throw new Difference({ file: 'the bundle' }, 'its form', error.message);
  }
}

/** Steps 1 and 2 are one group: the list says which files the ZIP has. */
export const GROUPS = ['files', 'checkpoint', 'events', 'documents', 'report'];

/** The lines that tell people the outcome. */
export function describe(found) {
  return [
    `${found.conversion} is as the log ${found.origin} has it (${found.size} events).`,
    ...found.events.map(({ index, time, type }) => `  event ${index}  ${time}  ${type}`),
    `  proved: ${['the events', ...found.proved].join(', ')}`,
    `  signed by the service, not proved: ${found.signed.join(', ')}`,
    '  not shown: whether there are later events, or a refund that was left out',
    ...found.absent.map((line) => `  ${line}`),
    ...found.not_checked.map((name) => `  cosigned, but its --witness key is not given: ${name}`),
  ];
}

// The command. Only here is anything of Node used, so that browsers can load the file.

const nodeModule = (name) => globalThis.process.getBuiltinModule(`node:${name}`);

/** A key as it is given, or the lines of a file. */
export function keysIn(given) {
  const { existsSync, readFileSync } = nodeModule('fs');
  return existsSync(given) ? readFileSync(given, 'utf8').trim().split('\n') : [given];
}

/** A bundle may come from a stranger: no text of it may steer a terminal or forge a line. */
const plain = (text) => text.replace(/[\p{Cc}\p{Bidi_C}]/gu, encodeURIComponent);

async function run() {
  const usage = 'give BUNDLE.zip --key KEY [--witness KEY]...';
  try {
    const key = { type: 'string', multiple: true, default: [] };
    const options = { key, witness: key };
    const { values, positionals } = nodeModule('util').parseArgs({
      options,
      allowPositionals: true,
    });
    const [keys, witnesses] = [values.key.flatMap(keysIn), values.witness.flatMap(keysIn)];
    if (positionals.length !== 1 || keys.length === 0) throw new Error(usage);
    const zip = nodeModule('fs').readFileSync(positionals[0]);
    const lines = describe(await verifyEvidence(zip, keys, witnesses));
    process.stdout.write(`${lines.map(plain).join('\n')}\n`);
  } catch (error) {
    const text = error.code?.startsWith('ERR_PARSE_ARGS') ? usage : error.message;
    process.stderr.write(`verify-evidence: ${plain(text)}\n`);
    process.exitCode = error instanceof Difference ? 1 : 2;
  }
}

const started = globalThis.process?.argv?.[1];
if (
  started &&
  nodeModule('fs').realpathSync(started) === nodeModule('url').fileURLToPath(import.meta.url)
) {
  void run();
}
