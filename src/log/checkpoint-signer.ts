/**
 * Signs checkpoints of the log's tree, and never two different trees of one size: before each signature it
 * compares the tree with the last checkpoint that this node signed or saw, and with the log's newest one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { checkpointQueries } from '../../projections/checkpoints.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { CHECKPOINT_EVENTS, LOG_ID, logAggregate, type SigningKey } from '../domain/log.ts';
import type { EventStore } from '../event-store/port.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import type { Clock } from '../time/clock.ts';
import { checkpointText } from '../transparency-log/checkpoint.ts';
import { rootHash } from '../transparency-log/merkle-tree.ts';
import { ed25519Signer, signNote, verifierKey } from '../transparency-log/signed-note.ts';
import { type LogGuard, type SigningKeys, signersOf } from './log-guard.ts';
import { type OpenedLog, openLog } from './log-origin.ts';

/** The least time from one signature of this node to its next. */
const PAUSE_MS = 1000;
/** Events read at once in the search for one that is worth a checkpoint. */
const PAGE = 100;

export interface SignerDependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly clock: Clock;
  readonly store: Pick<EventStore, 'head' | 'readAll'>;
  readonly guard: LogGuard;
  readonly signingKey: SigningKeys;
  /** The setting LOG_ORIGIN. */
  readonly logName: string | undefined;
  readonly pauseMs?: number;
}

/** Both of one generation of the read model: another may not have reached as far. */
const treeAndCheckpoints = (db: Database) => ({
  hashes: logTreeQueries(db).hashes,
  checkpoints: checkpointQueries(db),
});

export class CheckpointSigner {
  readonly #deps: SignerDependencies;
  #running = Promise.resolve();
  #beganAt = Number.NEGATIVE_INFINITY;
  /** A signature that has its turn to come: it will cover all that the log holds now. */
  #planned: Promise<void> | undefined;

  constructor(deps: SignerDependencies) {
    this.#deps = deps;
  }

  /**
   * Compares the log with the checkpoint that this node signed or saw last.
   * @param options `untilCaughtUp`: waits for the read model as long as it takes, as when it is rebuilt at a start
   * @throws {LogDiffers} @throws {ServiceError} `service_unavailable`
   */
  async checkLog({ untilCaughtUp = false } = {}): Promise<void> {
    const log = await openLog(this.#deps, this.#deps.logName);
    const { guard, runner, store } = this.#deps;
    const last = guard.last(log);
    if (untilCaughtUp) await runner.waitFor(await store.head());
    const { hashes } = await consistentQuery(this.#deps, logTreeQueries);
    if (last !== undefined) guard.compare(hashes, last);
  }

  /** Signs a checkpoint if there is more to cover than checkpoints. @throws {LogDiffers} */
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
   * @throws {LogDiffers}
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
    return signNote(text, signersOf(await this.#withKey(), this.#deps.signingKey));
  }

  /** Keeps the log's newest checkpoint, of any node. @throws {LogDiffers} */
  noteNewest(): Promise<void> {
    return this.#inOrder(async () => {
      const { guard } = this.#deps;
      const last = guard.last(await openLog(this.#deps));
      const { checkpoints, hashes } = this.#deps.readModel.query(treeAndCheckpoints);
      const checkpoint = checkpoints.newest();
      if (checkpoint === undefined || checkpoint.size <= (last?.size ?? 0)) return;
      // Else another history would take the place of what this node knows.
      if (last !== undefined) guard.compare(hashes, last);
      await guard.keep(checkpoint.note);
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
    const { actors, clock, guard, readModel, runner, signingKey } = this.#deps;
    const log = await this.#withKey();
    const last = guard.last(log);
    const { hashes } = await consistentQuery(this.#deps, logTreeQueries);
    const { size } = hashes;
    if (last !== undefined) guard.compare(hashes, last);
    const newest = readModel.query(checkpointQueries).newest();
    if (newest !== undefined) guard.compare(hashes, { ...newest, place: 'the newest in the log' });
    const { origin, generation } = log;
    const root = rootHash(hashes, size);
    const note = signNote(checkpointText({ origin, size, root }), signersOf(log, signingKey));
    // First the file: a crash in between must not let this size be signed again for another tree.
    await guard.keep(note);
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
    const { publicKey } = ed25519Signer(origin, this.#deps.signingKey(generation));
    const key: SigningKey = { generation, verifierKey: verifierKey(origin, publicKey) };
    const command = { type: 'AddSigningKey', ...key, at: this.#deps.clock.now() } as const;
    orThrow(await this.#deps.actors.send(logAggregate, LOG_ID, command, context));
  }
}
