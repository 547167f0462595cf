/** A witness on loopback that keeps to c2sp.org/tlog-witness: one log, one state, in memory. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import type { Test } from 'tap';
import { parseCheckpoint } from '../../src/transparency-log/checkpoint.ts';
import { rootOf } from '../../src/transparency-log/merkle-tree.ts';
import {
  COSIGNATURE,
  cosignedMessage,
  fromBase64,
  fromDecimal,
  openNote,
  parseVerifierKey,
  signatureLine,
  verifiedBy,
  verifierKey,
} from '../../src/transparency-log/signed-note.ts';
import { newSigner } from './note-signer.ts';
import { verifyConsistency } from './tree-proofs.ts';

/** The most that a real one (litewitness) takes. */
const MOST_BYTES = 10 * 1024;
const MOST_HASHES = 63;

interface WitnessAnswer {
  readonly status: number;
  readonly body: string;
  readonly contentType?: string;
}

export class TestWitness {
  readonly name: string;
  readonly verifierKey: string;
  /** The keys of the log that it knows, by the log's origin. */
  readonly logs = new Map<string, readonly string[]>();
  /** The bodies that reached it. */
  readonly requests: string[] = [];
  /** The tree that it has cosigned last. */
  size = 0;
  root = rootOf([]);
  /** Answers instead, if set. */
  instead: ((request: string, response: ServerResponse) => void) | undefined;
  readonly #signer;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  private constructor(name: string) {
    this.name = name;
    this.#signer = newSigner(name);
    this.verifierKey = verifierKey(name, this.#signer.publicKey, COSIGNATURE);
  }

  static async start(t: Test, name = 'witness.example/w1'): Promise<TestWitness> {
    const witness = new TestWitness(name);
    await new Promise<void>((listening) => witness.#server.listen(0, '127.0.0.1', listening));
    t.teardown(() => {
      witness.#server.closeAllConnections();
      witness.#server.close();
    });
    return witness;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/some/prefix`;
  }

  /** Its value in the setting WITNESSES. */
  get setting(): string {
    return `${this.verifierKey} ${this.url}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    this.requests.push(body);
    if (this.instead) return this.instead(body, response);
    const isCall = request.method === 'POST' && request.url === '/some/prefix/add-checkpoint';
    const answer = isCall ? this.addCheckpoint(body) : { status: 404, body: 'no such call\n' };
    response.writeHead(answer.status, { 'content-type': answer.contentType ?? 'text/plain' });
    response.end(answer.body);
  }

  /** The steps are in the order in which the standard has them. */
  addCheckpoint(request: string): WitnessAnswer {
    if (Buffer.byteLength(request) > MOST_BYTES) return { status: 413, body: 'too long\n' };
    const end = request.indexOf('\n\n');
    const [oldLine = '', ...proofLines] = request.slice(0, end).split('\n');
    const oldSize = oldLine.startsWith('old ') ? fromDecimal(oldLine.slice(4)) : undefined;
    const proof = proofLines.map(fromBase64);
    const note = request.slice(end + 2);
    if (end < 0 || oldSize === undefined || !areHashes(proof) || proof.length > MOST_HASHES) {
      return { status: 400, body: 'malformed\n' };
    }
    const { text } = openNote(note);
    const { origin, size, root } = parseCheckpoint(text);
    const keys = this.logs.get(origin);
    if (keys === undefined) return { status: 404, body: 'unknown log\n' };
    if (!keys.some((key) => verifiedBy(note, [key]).length > 0)) {
      return { status: 403, body: 'no trusted signature\n' };
    }
    if (oldSize > size) return { status: 400, body: 'old size beyond the checkpoint\n' };
    const conflict = { status: 409, body: `${this.size}\n`, contentType: 'text/x.tlog.size' };
    if (oldSize !== this.size || (oldSize === size && !root.equals(this.root))) return conflict;
    const isProven =
      oldSize === 0
        ? proof.length === 0
        : verifyConsistency({ from: oldSize, to: size, fromRoot: this.root, toRoot: root, proof });
    if (!isProven) return { status: 422, body: 'not consistent\n' };
    Object.assign(this, { size, root });
    return { status: 200, body: `${this.cosignature(text)}\n` };
  }

  /** The line that it answers with, whatever it has checked. */
  cosignature(text: string, time = BigInt(Math.floor(Date.now() / 1000))): string {
    const timeBytes = Buffer.alloc(8);
    timeBytes.writeBigUInt64BE(time);
    const signature = this.#signer.sign(cosignedMessage(text, time));
    const { keyId } = parseVerifierKey(this.verifierKey);
    return signatureLine(this.name, keyId, Buffer.concat([timeBytes, signature]));
  }
}

const areHashes = (hashes: readonly (Buffer | undefined)[]): hashes is readonly Buffer[] =>
  hashes.every((each) => each?.length === 32);
