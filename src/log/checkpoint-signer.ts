/**
 * Signs checkpoints of the log's tree, and never two different trees of one size: before each signature it
 * compares the tree with the last checkpoint that this node signed or saw, and with the log's newest one.
 */
import type { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { checkpointQueries, type StoredCheckpoint } from '../../projections/checkpoints.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { CHECKPOINT_EVENTS, LOG_ID, logAggregate, type SigningKey } from '../domain/log.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { EventStore } from '../event-store/port.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import type { Clock } from '../time/clock.ts';
import {
  type Checkpoint,
  checkpointText,
  parseCheckpoint,
} from '../transparency-log/checkpoint.ts';
import { rootHash, type TreeHashes } from '../transparency-log/merkle-tree.ts';
import {
  ed25519Signer,
  openNote,
  type Signer,
  signNote,
  verifierKey,
} from '../transparency-log/signed-note.ts';
import { type OpenedLog, openLog } from './log-origin.ts';

/** The least time from one signature of this node to its next. */
const PAUSE_MS = 1000;
/** Events read at once in the search for one that is worth a checkpoint. */
const PAGE = 100;

/** The checkpoint that this node signed or saw last, kept outside the log and its copies. */
export interface LastCheckpoint {
  /** Named in messages. */
  readonly path: string;
  /** The note; undefined before the first. */
  read(): string | undefined;
  /** Durable when it resolves. */
  write(note: string): Promise<void>;
}

export interface SignerDependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly clock: Clock;
  readonly store: Pick<EventStore, 'head' | 'readAll'>;
  readonly lastCheckpoint: LastCheckpoint;
  /** The private key of a generation: the same one each time. */
  readonly signingKey: (generation: number) => KeyObject;
  /** The setting LOG_ORIGIN. */
  readonly logName: string | undefined;
  readonly pauseMs?: number;
}

/** The log is not the one that was signed. Signing on would vouch for two histories. */
export class LogContradictsCheckpoint extends Error {
  override readonly name = 'LogContradictsCheckpoint';
}

/** Both of one generation of the read model: another may not have reached as far. */
const treeAndCheckpoints = (db: Database) => ({
  hashes: logTreeQueries(db).hashes,
  checkpoints: checkpointQueries(db),
});

export class CheckpointSigner {
  /** Rejects with {@link LogContradictsCheckpoint}, for good; never resolves. */
  readonly contradicted: Promise<never>;
  readonly #deps: SignerDependencies;
  #contradict: (error: LogContradictsCheckpoint) => void = () => {};
  #running = Promise.resolve();
  #beganAt = Number.NEGATIVE_INFINITY;
  /** A signature that has its turn to come: it will cover all that the log holds now. */
  #planned: Promise<void> | undefined;

  constructor(deps: SignerDependencies) {
    this.#deps = deps;
    this.contradicted = new Promise((_, reject) => {
      this.#contradict = reject;
    });
    this.contradicted.catch(() => {});
  }

  /**
   * Compares the log with the checkpoint that this node signed or saw last.
   * @param options `untilCaughtUp`: waits for the read model as long as it takes, as when it is rebuilt at a start
   * @throws {LogContradictsCheckpoint} @throws {ServiceError} `service_unavailable`
   */
  async checkLog({ untilCaughtUp = false } = {}): Promise<void> {
    const log = await openLog(this.#deps, this.#deps.logName);
    const last = this.#lastOf(log);
    if (last === undefined) return;
    const newest = log.checkpoints.at(-1);
    // The log itself says that it is the one. The tree is compared before the next signature.
    if (newest?.size === last.size && newest.root === last.root.toString('base64')) return;
    const { runner, store } = this.#deps;
    if (untilCaughtUp) await runner.waitFor(await store.head());
    const { hashes } = await consistentQuery(this.#deps, logTreeQueries);
    this.#compare(hashes, last);
  }

  /** Signs a checkpoint if there is more to cover than checkpoints. @throws {LogContradictsCheckpoint} */
  async signNews(): Promise<void> {
    await this.checkLog();
    const { readModel, store } = this.#deps;
    const { positionOf } = await consistentQuery(this.#deps, logTreeQueries);
    const newest = readModel.query(checkpointQueries).newest();
    let after = newest === undefined ? 0n : positionOf(newest.size - 1);
    for (;;) {
      const events = await store.readAll({ after: after ?? 0n, limit: PAGE });
      if (events.some(({ type }) => !CHECKPOINT_EVENTS.some((each) => each === type))) {
        return await this.sign();
      }
      if (events.length < PAGE) return;
      after = events.at(-1)?.position;
    }
  }

  /**
   * Resolves when a checkpoint that covers all that the log held at the call is stored. This node signs
   * at most once a second; those who ask meanwhile share the next signature.
   * @throws {LogContradictsCheckpoint}
   */
  sign(): Promise<void> {
    this.#planned ??= this.#signInTurn();
    return this.#planned;
  }

  /** Adds a signing key. From now on the two newest sign, and the ones before do not. */
  async rotate(context: CommandContext): Promise<void> {
    let log = await openLog(this.#deps, this.#deps.logName);
    if (!log.isKeyUsed) {
      await this.sign();
      log = await openLog(this.#deps);
    }
    await this.#addKey(log, context);
    await this.sign();
  }

  /**
   * Signs another text with the keys in force.
   * @throws {Error} it is a checkpoint, or can be in no note
   */
  async signText(text: string): Promise<string> {
    // The second line of a checkpoint is a number.
    if (/^[0-9]*$/.test(text.split('\n', 2)[1] ?? '')) {
      throw new Error('A checkpoint is signed by sign() alone.');
    }
    return signNote(text, this.#signersOf(await this.#withKey()));
  }

  /** Keeps the log's newest checkpoint, of any node. @throws {LogContradictsCheckpoint} */
  noteNewest(): Promise<void> {
    return this.#inOrder(async () => {
      const last = this.#lastOf(await openLog(this.#deps));
      const { checkpoints, hashes } = this.#deps.readModel.query(treeAndCheckpoints);
      const checkpoint = checkpoints.newest();
      if (checkpoint === undefined || checkpoint.size <= (last?.size ?? 0)) return;
      // Else another history would take the place of what this node knows.
      if (last !== undefined) this.#compare(hashes, last);
      await this.#deps.lastCheckpoint.write(checkpoint.note);
    });
  }

  async #signInTurn(): Promise<void> {
    const wait = this.#beganAt + (this.#deps.pauseMs ?? PAUSE_MS) - performance.now();
    if (wait > 0) await delay(wait);
    await this.#inOrder(async () => {
      this.#planned = undefined;
      this.#beganAt = performance.now();
      await this.#signNow();
    });
  }

  /** One thing at a time: an older checkpoint must not be kept over a newer one. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#running.then(work);
    this.#running = done.catch(() => {});
    return done;
  }

  async #signNow(): Promise<void> {
    const { actors, clock, lastCheckpoint, readModel, runner } = this.#deps;
    const log = await this.#withKey();
    const last = this.#lastOf(log);
    const { hashes } = await consistentQuery(this.#deps, logTreeQueries);
    const { size } = hashes;
    if (last !== undefined) this.#compare(hashes, last);
    const newest = readModel.query(checkpointQueries).newest();
    if (newest !== undefined) this.#compare(hashes, newest);
    const { origin, generation } = log;
    const root = rootHash(hashes, size);
    const note = signNote(checkpointText({ origin, size, root }), this.#signersOf(log));
    // First the file: a crash in between must not let this size be signed again for another tree.
    await lastCheckpoint.write(note);
    const outcome = await actors.send(
      logAggregate,
      LOG_ID,
      {
        type: 'SignCheckpoint',
        origin,
        size,
        root: root.toString('base64'),
        note,
        generation,
        at: clock.now(),
      },
      firstCommand(clock.now(), { kind: 'service' }),
    );
    // Another node has signed as much or more, unless it has added a key: then the caller asks again.
    if (outcome.accepted) await runner.waitFor(outcome.position ?? 0n);
  }

  async #withKey(): Promise<OpenedLog> {
    const log = await openLog(this.#deps, this.#deps.logName);
    if (log.keys.length > 0) return log;
    await this.#addKey(log, firstCommand(this.#deps.clock.now(), { kind: 'service' }));
    return await openLog(this.#deps);
  }

  async #addKey({ origin, generation: newest }: OpenedLog, context: CommandContext) {
    const generation = newest + 1;
    const { publicKey } = this.#signer(origin, generation);
    const key: SigningKey = { generation, verifierKey: verifierKey(origin, publicKey) };
    const command = { type: 'AddSigningKey', ...key, at: this.#deps.clock.now() } as const;
    orThrow(await this.#deps.actors.send(logAggregate, LOG_ID, command, context));
  }

  #signersOf({ origin, keys }: OpenedLog): readonly Signer[] {
    return keys.toReversed().map(({ generation, verifierKey: expected }) => {
      const signer = this.#signer(origin, generation);
      if (verifierKey(origin, signer.publicKey) === expected) return signer;
      throw new Error(
        `Signing key ${generation} of the log does not follow from MASTER_KEY: set the MASTER_KEY that this log was begun with.`,
      );
    });
  }

  #signer(name: string, generation: number): Signer {
    return ed25519Signer(name, this.#deps.signingKey(generation));
  }

  #lastOf({ origin }: OpenedLog): Checkpoint | undefined {
    const { lastCheckpoint } = this.#deps;
    const note = lastCheckpoint.read();
    if (note === undefined) return undefined;
    const last = this.#parsed(note);
    if (last.origin === origin) return last;
    return this.#refuse(
      `${lastCheckpoint.path} is a checkpoint of the log ${last.origin}, and this log is ${origin}: restore that log, or give this one another DATA_DIR.`,
    );
  }

  #parsed(note: string): Checkpoint {
    try {
      return parseCheckpoint(openNote(note).text);
    } catch (error) {
      return this.#refuse(
        `${this.#deps.lastCheckpoint.path} is damaged, so nobody knows what this node has signed: restore it, or remove it where a later checkpoint is known to be in the log. ${errorMessage(error)}`,
      );
    }
  }

  #compare(hashes: TreeHashes, { size, root }: Pick<StoredCheckpoint, 'size' | 'root'>): void {
    const { path } = this.#deps.lastCheckpoint;
    if (hashes.size < size) {
      this.#refuse(
        `The log holds ${hashes.size} events, and this node has signed or seen a checkpoint of ${size} (${path}): an older log was put back, so restore the newer one.`,
      );
    }
    if (!rootHash(hashes, size).equals(root)) {
      this.#refuse(
        `The log's first ${size} events are not those of the checkpoint that was signed (${path}): events were changed, so restore the log that was signed.`,
      );
    }
  }

  #refuse(message: string): never {
    const error = new LogContradictsCheckpoint(message);
    this.#contradict(error);
    throw error;
  }
}
