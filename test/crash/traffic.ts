/** Clients that go on while parts of the service break, and what they were promised. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ConversionOptions } from '../../client/src/conversion-options.ts';
import { isPressledgerError } from '../../client/src/errors.ts';
import { errorMessage } from '../../src/errors/error-message.ts';
import { mayComeAgain } from '../support/come-again.ts';
import type { Random } from '../support/random.ts';
import { PeopleTraffic } from './people-traffic.ts';
import type { Client, Promises } from './promises.ts';
import type { Site } from './site.ts';

/** The number of requests of one client in a round, at least and at most. */
const LEAST_DOCUMENTS = 4;
const MOST_DOCUMENTS = 16;
const LARGE_BYTES = 90_000;
/** A client that gets no promise for so long has a reason to complain. */
const PATIENCE_MS = 60_000;

interface Wanted {
  readonly key: string;
  readonly options: ConversionOptions;
  readonly fails: boolean;
}

/** Every fifth one fails, so that refunds are met too; every seventh does not fit into the log's own file. */
function wanted(client: Client, round: number, number: number): Wanted {
  const fails = number % 5 === 4;
  const filling = number % 7 === 3 ? `<!--${'x'.repeat(LARGE_BYTES)}-->` : '';
  const html = `<h1>Round ${round}</h1><p>Document ${number} of ${client.email}</p>${filling}`;
  const options = fails ? { html, page_ranges: '9' } : { html };
  return { key: `${client.email}, round ${round}, ${number}`, options, fails };
}

export class Traffic {
  readonly #site: Site;
  readonly #promises: Promises;
  readonly #random: Random;
  readonly #round: number;

  constructor(site: Site, promises: Promises, random: Random, round: number) {
    this.#site = site;
    this.#promises = promises;
    this.#random = random;
    this.#round = round;
  }

  /** Goes on until the signal; resolves when every client has an answer to what it began. */
  async run(over: AbortSignal): Promise<void> {
    const busy = this.#site.clients.filter((client) => client !== this.#site.people.quiet);
    const clients = busy.flatMap((client) => [
      this.#convert(client, over, 0),
      this.#convert(client, over, MOST_DOCUMENTS),
    ]);
    const [first] = this.#site.clients;
    if (first) clients.push(this.#useKeys(first));
    const insist = this.#insist.bind(this);
    clients.push(new PeopleTraffic(this.#site, this.#promises, insist, this.#round).run());
    await Promise.all(clients);
  }

  /** Repeats a request as a client does, until it is answered. */
  async #insist<T>(what: string, ask: (turn: number) => Promise<T>): Promise<T | undefined> {
    const until = performance.now() + PATIENCE_MS;
    for (let turn = this.#random.integer(0, 1); ; turn += 1) {
      this.#promises.requests += 1;
      try {
        return await ask(turn);
      } catch (error) {
        if (!mayComeAgain(error) || performance.now() > until) {
          this.#promises.complaints.push(`${what}: ${errorMessage(error)}`);
          return undefined;
        }
        await pause(50);
      }
    }
  }

  async #convert(client: Client, over: AbortSignal, first: number): Promise<void> {
    const site = this.#site;
    const random = this.#random;
    for (let n = 0; n < MOST_DOCUMENTS / 2; n += 1) {
      if (n >= LEAST_DOCUMENTS / 2 && over.aborted) return;
      const { key, options, fails } = wanted(client, this.#round, first + n);
      const create = (turn: number) =>
        site.client(client.apiKey, turn).create(options, { idempotencyKey: key });
      const accepted = await this.#insist(key, create);
      if (accepted === undefined) continue;
      const { id } = accepted;
      this.#promises.conversions.push({ client, id, fails, round: this.#round });
      if (random.integer(0, 3) === 0) {
        const again = await this.#insist(`${key} again`, create);
        if (again && again.id !== id) {
          this.#promises.complaints.push(`${key} has two conversions: ${id} and ${again.id}`);
        }
      }
      const read = await this.#insist(`${id} at once`, (turn) =>
        site.client(client.apiKey, turn).get(id, { waitSeconds: random.integer(0, 1) }),
      );
      if (read && read.id !== id) this.#promises.complaints.push(`${id} reads as ${read.id}`);
    }
  }

  /** Makes a key, uses it and revokes it. */
  async #useKeys({ apiKey }: Client): Promise<void> {
    const site = this.#site;
    const name = `round ${this.#round}`;
    const made = await this.#insist(`a key`, (turn) => site.client(apiKey, turn).createKey(name));
    if (made === undefined) return;
    await this.#insist(`${made.id} is used`, (turn) => site.client(made.key, turn).account());
    const revoked = await this.#insist(`${made.id} is revoked`, async (turn) => {
      try {
        await site.client(apiKey, turn).revokeKey(made.id);
      } catch (error) {
        // It was revoked by a request that got no answer; every node has to refuse it all the same.
        if (!isPressledgerError(error, 'not_found')) throw error;
      }
      return true;
    });
    if (revoked) this.#promises.revoked.push({ id: made.id, key: made.key });
  }
}
