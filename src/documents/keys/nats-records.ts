/** The keyring's records in a key-value bucket of NATS JetStream, which the renderer's user does not reach. */

import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { errorMessage } from '../../errors/error-message.ts';
import { MAX_BYTES, withinStorage } from '../../nats/bucket.ts';
import type { IfUp } from '../../nats/connection.ts';
import { KeyringGone, type ListedKeyRecords } from './port.ts';
import { missingKeyring } from './records.ts';

/** One look at a tombstone per active account in this time: a fraction of a millisecond each. */
export const NATS_RECHECK_MS = 1000;

export interface NatsKeyRecordsOptions {
  /** Allows a new bucket if there is none: only while the event log is empty. */
  readonly create: boolean;
  readonly bucket?: string;
  /** Servers that hold each record; more than one needs a cluster. */
  readonly replicas?: number;
  /** The longest wait for one answer of the server. */
  readonly timeoutMs?: number;
  /** Tells at once that the connection is down. */
  readonly ifUp?: IfUp;
}

export class NatsKeyRecords implements ListedKeyRecords {
  readonly #kv: KV;
  readonly #manager: JetStreamManager;
  readonly #stream: string;
  readonly #ifUp: IfUp;

  private constructor(kv: KV, manager: JetStreamManager, bucket: string, ifUp: IfUp) {
    this.#ifUp = ifUp;
    this.#kv = kv;
    this.#manager = manager;
    this.#stream = `KV_${bucket}`;
  }

  /**
   * While it runs, a bucket that its server lost is never made again: a new one would know of no erasure.
   * @throws {Error} one line: the bucket is missing, or the server cannot hold one
   */
  static async open(
    connection: NatsConnection,
    options: NatsKeyRecordsOptions,
  ): Promise<NatsKeyRecords> {
    const { bucket = 'pressledger-keys', replicas = 1, timeoutMs = 5000 } = options;
    const { ifUp = (work) => work() } = options;
    const stream = jetstream(connection, { timeout: timeoutMs });
    // Read from the leader only: another server may not have heard of an erasure yet.
    const strict = { allow_direct: false };
    try {
      const manager = await stream.jetstreamManager();
      const kvm = new Kvm(stream);
      const kv = options.create
        ? await withinStorage(MAX_BYTES.keys, (max_bytes) =>
            kvm.create(bucket, { ...strict, history: 1, replicas, max_bytes }),
          )
        : await kvm.open(bucket, strict);
      await kv.status();
      return new NatsKeyRecords(kv, manager, bucket, ifUp);
    } catch (error) {
      const missing = isCode(error, JetStreamApiCodes.StreamNotFound);
      throw new Error(
        missing
          ? missingKeyring(`NATS (bucket ${bucket})`)
          : `The keyring, the NATS bucket ${bucket}, cannot be used: ${errorMessage(error)}.`,
        { cause: error },
      );
    }
  }

  /** Opens it if there is one; makes nothing. @throws {Error} one line: the server cannot be asked */
  static async find(
    connection: NatsConnection,
    options: Omit<NatsKeyRecordsOptions, 'create'>,
  ): Promise<NatsKeyRecords | undefined> {
    try {
      return await NatsKeyRecords.open(connection, { ...options, create: false });
    } catch (error) {
      const { cause } = error as Error;
      if (isCode(cause, JetStreamApiCodes.StreamNotFound)) return undefined;
      throw error;
    }
  }

  async create(name: string, text: string): Promise<boolean> {
    try {
      await this.#ifUp(() => this.#kv.create(name, text));
      return true;
    } catch (error) {
      if (isCode(error, JetStreamApiCodes.StreamWrongLastSequence)) return false;
      throw error;
    }
  }

  async read(name: string): Promise<string | undefined> {
    try {
      const entry = await this.#ifUp(() => this.#kv.get(name));
      return entry?.operation === 'PUT' ? entry.string() : undefined;
    } catch (error) {
      if (!isCode(error, JetStreamApiCodes.StreamNotFound)) throw error;
      throw new KeyringGone(
        `NATS does not have the bucket of the keyring, ${this.#stream.slice('KV_'.length)}.`,
        {
          cause: error,
        },
      );
    }
  }

  async names(): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const name of await this.#kv.keys()) names.push(name);
    return names;
  }

  async remove(name: string): Promise<void> {
    await this.#ifUp(() => this.#remove(name));
  }

  async #remove(name: string): Promise<void> {
    const entry = await this.#kv.get(name);
    if (entry === null) return;
    try {
      // Overwritten on disk, too; a marker of deletion would leave the text there for a while.
      await this.#manager.streams.deleteMessage(this.#stream, entry.revision, true);
    } catch (error) {
      // Another node was quicker.
      if ((await this.#kv.get(name)) !== null) throw error;
    }
  }
}

function isCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
