#!/usr/bin/env node
/**
 * Checks a bundle that `pressledger evidence` wrote. It needs Node 20.15 or later and this file alone: no
 * package, no network, no service.
 *     node verify-evidence.mjs BUNDLE.zip --key KEY [--witness KEY]...
 * KEY is a verifier key of the log, or a file that holds it. Take it from the service (`/tlog/key`) or from
 * your own records, never from the bundle: everything below rests on it. Each section is one step.
 *
 * 1. The ZIP is nothing but its files: written again from them, it has the same bytes.
 * 2. `contents.txt` is signed with KEY and names every other file with its SHA-256: no byte was altered.
 * 3. `checkpoint` is signed with KEY: the number of events in the log, and the root of its Merkle tree.
 * 4. Each line of `events.jsonl` is an event of the log: its hash and its proof lead to that root.
 * 5. Request, manifest and PDF are those that the events name; the report shows the same events.
 *
 * Step 2 shows that the service wrote the bundle. Steps 3 to 5 show what its log says, which it cannot
 * change any more once others have the checkpoint. What only step 2 covers is told as "signed, not proved".
 * No bundle can show that nothing happened after its last event, or that no refund was left out.
 */
import { createCipheriv, createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { crc32 } from 'node:zlib';

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

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const hexSha256 = (content) => sha256(content).toString('hex');

// 1. The ZIP. Only one form is accepted: files stored without compression, all of the same date, without
// comments, extra fields or gaps. Else other content could hide there, for other programs to show.

/** Numbers, little-endian, each as wide as its digit in `widths` says. */
function packed(widths, ...numbers) {
  const bytes = numbers.map((_, n) => Buffer.alloc(Number(widths[n])));
  for (const [n, each] of bytes.entries()) each.writeUIntLE(numbers[n], 0, each.length);
  return Buffer.concat(bytes);
}

function zipOf(files) {
  const [entries, directory] = [[], []];
  let [offset, length] = [0, 0];
  for (const [name, content] of files) {
    const size = content.length;
    // Version 2.0, no flags, stored, midnight, 1 January 1980, CRC-32, length twice, no extra field.
    const facts = packed('2222244422', 20, 0, 0, 0, 33, crc32(content), size, size, name.length, 0);
    const place = packed('22244', 0, 0, 0, 0, offset);
    entries.push(Buffer.from('PK\x03\x04'), facts, Buffer.from(name), content);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), facts, place, Buffer.from(name));
    offset += 4 + facts.length + name.length + size;
    length += 6 + facts.length + place.length + name.length;
  }
  const end = packed('2222442', 0, 0, files.size, files.size, length, offset, 0);
  return Buffer.concat([...entries, ...directory, Buffer.from('PK\x05\x06'), end]);
}

function filesOf(zip) {
  const files = new Map();
  let at = 0;
  mustBe('the ZIP', 'beginning', 'PK\x03\x04', zip.toString('latin1', 0, 4));
  while (zip.readUInt32LE(at) === 0x04034b50) {
    const start = at + 30 + zip.readUInt16LE(at + 26);
    const name = zip.toString('ascii', at + 30, start);
    mustBe('the ZIP', `the name of file ${files.size + 1}`, name.replaceAll(/[^\w.-]/g, ''), name);
    mustBe(name, 'method of compression', 0, zip.readUInt16LE(at + 8));
    at = start + zip.readUInt32LE(at + 18);
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
function parseKey(text, type) {
  const [, name = '', id, base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text.trim()) ?? [];
  const key = Buffer.from(base64, 'base64');
  const isKey = key.length === 33 && key[0] === type;
  if (!isKey || sha256(Buffer.from(`${name}\n`), key).toString('hex', 0, 4) !== id) {
    throw new Error(`${text} is not a verifier key of type ${type} (1: a log's, 4: a witness's).`);
  }
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key.subarray(1)]);
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return { name, id, type, publicKey, text: `${name}+${id}+${key.toString('base64')}` };
}

/** The lines of a note; the texts of those of `keys` whose signatures it has; the names of other signers. */
function openNote(file, note, keys) {
  const end = note.lastIndexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const [signers, others] = [[], []];
  const lines = note.slice(end + 1).split('\n');
  mustBe(file, 'its end', '', lines.pop());
  for (const line of lines) {
    const [, name, base64 = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    mustBe(file, 'a line of a signature', `— ${name} ${bytes.toString('base64')}`, line);
    const id = bytes.toString('hex', 0, 4);
    // An id is short: somebody can make a key that has the same. The first of `keys` counts.
    const key = keys.find((each) => each.name === name && each.id === id);
    if (key) {
      const signature = bytes.subarray(key.type === 4 ? 12 : 4);
      const time = key.type === 4 ? `cosignature/v1\ntime ${bytes.readBigUInt64BE(4)}\n` : '';
      const holds = verify(null, Buffer.from(time + text), key.publicKey, signature);
      mustBe(file, `the signature of ${name}+${id} holds`, true, holds);
      signers.push(key.text);
    } else others.push(`${name}+${id}`);
  }
  return { lines: text.slice(0, -1).split('\n'), signers, others };
}

// 4. The log's Merkle tree (RFC 9162, 2.1.3.2). BigInt, for an index may have more than 32 bits.

/** The root hash that a leaf and its proof lead to, base64. */
function rootFrom(leaf, index, size, proof) {
  let [node, last, hash] = [BigInt(index), BigInt(size) - 1n, leaf];
  if (node > last) return 'an index beyond the tree';
  for (const sibling of proof) {
    if (last === 0n) return 'too long a proof';
    if (node % 2n === 1n || node === last) {
      hash = sha256(Buffer.of(1), sibling, hash);
      while (node % 2n === 0n && node !== 0n) [node, last] = [node / 2n, last / 2n];
    } else hash = sha256(Buffer.of(1), hash, sibling);
    [node, last] = [node / 2n, last / 2n];
  }
  return last === 0n ? hash.toString('base64') : 'too short a proof';
}

/** An event by its line in `events.jsonl`: its text as the log has it, and a https://c2sp.org/tlog-proof. */
function provedEvent(line, checkpoint, size, root) {
  const { index, event: text, proof } = JSON.parse(line);
  const file = `events.jsonl, event ${index}`;
  const end = proof.indexOf('\n\n');
  const [format, place, ...hashes] = proof.slice(0, end).split('\n');
  mustBe(file, 'proof', `c2sp.org/tlog-proof@v1, index ${index}`, `${format}, ${place}`);
  mustBe(file, 'checkpoint', checkpoint, proof.slice(end + 2));
  const leaf = sha256(Buffer.of(0), Buffer.from(text));
  const path = hashes.map((each) => Buffer.from(each, 'base64'));
  mustBe(file, 'root hash', root, rootFrom(leaf, index, size, path));
  const event = JSON.parse(text);
  const time = new Date(event.metadata.time).toISOString();
  return { ...event, index, time, leaf: leaf.toString('base64'), file };
}

// 5. The documents and the report.

const visible = (html) => html.replaceAll(/(<[^>]*>|\s)+/g, ' ').trim();
const escaped = (text) => text.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);

/** SHA-256 of the encrypted form: AES-256-GCM in frames of 64 KiB, with what `keys.json` discloses. */
function encryptedSha256(content, { key, header }) {
  const hash = createHash('sha256').update(header, 'hex');
  const frames = Math.max(1, Math.ceil(content.length / 65536));
  for (let index = 0; index < frames; index += 1) {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(index, 7);
    nonce[11] = index === frames - 1 ? 1 : 0;
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'hex'), nonce);
    hash.update(cipher.update(content.subarray(index * 65536, (index + 1) * 65536)));
    hash.update(cipher.final()).update(cipher.getAuthTag());
  }
  return hash.digest('hex');
}

const hmacSha256 = (content, key) =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(content).digest('hex');

function checked(zip, keys, witnesses) {
  const files = filesOf(zip);
  const textOf = (name) => files.get(name)?.toString() ?? mustBe(name, 'file', 'there', 'missing');

  // 2. The list, which the keys of the log that were in force have signed; KEY is one of them.
  const keyLines = textOf('log-key.txt').trimEnd().split('\n');
  const inForce = keyLines.map((line) => parseKey(line, 1));
  const list = openNote('contents.txt', textOf('contents.txt'), [...keys, ...inForce]);
  mustBe('contents.txt', 'signers', textsOf(inForce), [...list.signers, ...list.others].join());
  mustBeSigned('contents.txt', keys, list.signers);
  const [format, originLine, conversionLine, ...lines] = list.lines;
  mustBe('contents.txt', 'format', 'pressledger-evidence/v1', format);
  const absent = lines.filter((line) => line.startsWith('absent '));
  const listed = lines.slice(absent.length).map((line) => line.split('  '));
  const names = [...listed.map(([, name]) => name), 'contents.txt'].join();
  mustBe('the ZIP', 'files', names, [...files.keys()].join());
  for (const [hash, name] of listed) mustBe(name, 'SHA-256', hash, hexSha256(files.get(name)));
  mustBeNothingBut(files, zip);

  // 3. The checkpoint.
  const note = textOf('checkpoint');
  const checkpoint = openNote('checkpoint', note, [...keys, ...inForce, ...witnesses]);
  mustBeSigned('checkpoint', keys, checkpoint.signers);
  for (const each of witnesses) mustBeSigned('checkpoint', [each], checkpoint.signers);
  const [origin, size, root] = checkpoint.lines;
  for (const { name } of keys) mustBe('checkpoint', 'origin', name, origin);
  mustBe('contents.txt', 'origin', `origin ${origin}`, originLine);
  // A timestamp is of the checkpoint without witnesses. `openssl ts` checks who gave it: see README.txt.
  const isOfLog = (line) => !line.startsWith('— ') || line.startsWith(`— ${origin} `);
  const digest = sha256(Buffer.from(note.split('\n').filter(isOfLog).join('\n')));
  const isTimestamped = files.get('checkpoint.tst')?.includes(digest) ?? true;
  mustBe('checkpoint.tst', 'is of the checkpoint', true, isTimestamped);

  // 4. The events: all of one conversion, in the log's order, those of its own stream without a gap.
  const rows = textOf('events.jsonl').trimEnd().split('\n');
  const events = rows.map((row) => provedEvent(row, note, size, root));
  const id = conversionLine.replace('conversion ', '');
  const own = events.filter(({ stream }) => stream === `conversion-${id}`);
  for (const [n, { file, revision }] of own.entries()) mustBe(file, 'revision', n, revision);
  const ofAccount = `account-${events[0]?.data.accountId}`;
  const begin = events.slice(0, 2).map(({ type }) => type);
  mustBe('events.jsonl', 'its beginning', 'CreditDebited,ConversionRequested', begin.join());
  for (const [n, { file, stream, index, data }] of events.entries()) {
    mustBe(file, 'conversion', id, data.conversionId);
    if (!own.includes(events[n])) mustBe(file, 'stream', ofAccount, stream);
    mustBe(file, 'in order', true, n === 0 || index > events[n - 1].index);
  }

  // 5. The documents: each is the one that its event names, or the list says why it is absent.
  const dataOf = (wantedType) => events.find(({ type }) => type === wantedType)?.data;
  const [requested, completed] = ['ConversionRequested', 'ConversionCompleted'].map(dataOf);
  const opening = JSON.parse(textOf('keys.json'));
  const proved = new Map([
    ['document.pdf', [completed?.pdf.sha256, hexSha256]],
    ['request.json', [requested?.requestHmac, (json) => hmacSha256(json, opening.request)]],
    ['manifest.json', [completed?.manifest.sha256, (m) => encryptedSha256(m, opening.manifest)]],
  ]);
  for (const [name, [expected, digestOf]] of proved) {
    const isAbsent = absent.some((line) => line.startsWith(`absent ${name}: `));
    mustBe(name, 'absent', isAbsent, !files.has(name));
    if (isAbsent) proved.delete(name);
    else mustBe(name, 'digest', expected, digestOf(files.get(name)));
  }

  // The report: its visible text has what was proved, and one item for each event.
  const report = textOf('report.html');
  for (const each of [id, origin, size, root, completed?.pdf.sha256 ?? '']) {
    mustBe('report.html', each, true, visible(report).includes(escaped(each)));
  }
  const items = [...report.matchAll(/<li id="event-\d+"><p>(.*?)<\/p>/gs)].map(([, html]) => html);
  mustBe('report.html', 'number of events', events.length, items.length);
  for (const [n, { index, time, type, leaf }] of events.entries()) {
    mustBe('report.html', 'event', `#${index} ${time} ${type} ${leaf}`, visible(items[n]));
  }

  const evident = ['events.jsonl', 'checkpoint', 'log-key.txt', 'keys.json', 'contents.txt'];
  const signed = [...files.keys()].filter((name) => !proved.has(name) && !evident.includes(name));
  const found = { conversion: id, origin, size: Number(size), root, proved: [...proved.keys()] };
  const facts = events.map(({ index, time, type }) => ({ index, time, type }));
  return { ok: true, ...found, events: facts, signed, absent, not_checked: checkpoint.others };
}

const textsOf = (keys) => keys.map(({ text }) => text).join();

/** Any one of the keys will do. */
function mustBeSigned(file, keys, signers) {
  const isSigned = keys.some(({ text }) => signers.includes(text));
  mustBe(file, 'signed by', textsOf(keys), isSigned ? textsOf(keys) : signers.join());
}

/**
 * Checks a bundle. `keys` are verifier keys of the log, one of which must have signed it; `witnesses` those
 * of witnesses, each of which must have cosigned the checkpoint. Throws a `Difference`.
 */
export function verifyEvidence(zip, keys, witnesses = []) {
  const ofLog = keys.map((text) => parseKey(text, 1));
  const ofWitnesses = witnesses.map((text) => parseKey(text, 4));
  try {
    return checked(zip, ofLog, ofWitnesses);
  } catch (error) {
    if (error instanceof Difference) throw error;
    throw new Difference({ file: 'the bundle' }, 'its form', error.message);
  }
}

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

/** A key as it is given, or the lines of a file. */
export const keysIn = (given) =>
  existsSync(given) ? readFileSync(given, 'utf8').trim().split('\n') : [given];

/** A bundle may come from a stranger: no text of it may steer a terminal or forge a line. */
const plain = (text) => text.replace(/[\p{Cc}\p{Bidi_C}]/gu, encodeURIComponent);

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const usage = 'give BUNDLE.zip --key KEY [--witness KEY]...';
  try {
    const key = { type: 'string', multiple: true, default: [] };
    const options = { key, witness: key };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [keys, witnesses] = [values.key.flatMap(keysIn), values.witness.flatMap(keysIn)];
    if (positionals.length !== 1 || keys.length === 0) throw new Error(usage);
    const lines = describe(verifyEvidence(readFileSync(positionals[0]), keys, witnesses));
    process.stdout.write(`${lines.map(plain).join('\n')}\n`);
  } catch (error) {
    const text = error.code?.startsWith('ERR_PARSE_ARGS') ? usage : error.message;
    process.stderr.write(`verify-evidence: ${plain(text)}\n`);
    process.exitCode = error instanceof Difference ? 1 : 2;
  }
}
