/** Opens parts of a process together: all of them, or none. */

import type { Config } from '../config/config.ts';
import type { BoundCheck } from '../limits/bounds.ts';
import type { NatsLink } from '../nats/connection.ts';
import type { Logger } from '../observe/log.ts';
import { Outage } from '../observe/outage.ts';
import { connect, type NatsSide } from './nats.ts';

export interface Opening {
  /** Resolves to the reason why it does not work right now, for the operator. */
  readonly unhealthyReason?: () => Promise<string | undefined>;
  /** Resolves to the bound that keeps new work out, and why; decided by what is known, without a request. */
  readonly bound?: BoundCheck;
  readonly close?: () => Promise<void>;
}

/** What was opened so far. It is checked together and closed in the reverse order. */
export class Openings {
  readonly #openings: Opening[] = [];
  readonly #outages = new Map<string, Outage>();

  add(opening: Opening): void {
    this.#openings.push(opening);
  }

  /** One for each server, whatever uses it. @param server its name in lines, such as `the event store` */
  outage(server: string, logger: Logger): Outage {
    const known = this.#outages.get(server) ?? new Outage(server, logger);
    this.#outages.set(server, known);
    return known;
  }

  get bounds(): readonly BoundCheck[] {
    return this.#openings.flatMap(({ bound }) => bound ?? []);
  }

  /** Returns them without a full stop at the end: callers join them to one sentence. */
  async unhealthyReasons(): Promise<readonly string[]> {
    const all = this.#openings.map(async ({ unhealthyReason }) => await unhealthyReason?.());
    return (await Promise.all(all)).flatMap((each) => each?.replace(/\.$/, '') ?? []);
  }

  async close(): Promise<void> {
    for (const { close } of this.#openings.toReversed()) await close?.();
  }
}

/** The settings of a process, and what it has opened so far. */
export interface Surroundings {
  readonly config: Config;
  readonly logger: Logger;
  readonly openings: Openings;
  readonly nats: NatsLink | undefined;
}

/**
 * Connects to NATS where the settings name a server.
 * @param side `documents`: as an API node, and only where documents and keys lie in NATS
 */
export async function surroundings(
  config: Config,
  logger: Logger,
  openings: Openings,
  side: NatsSide | 'documents' | undefined,
): Promise<Surroundings> {
  const as = side === 'documents' ? 'api' : side;
  const isNeeded = side !== 'documents' || config.blobStoreUrl?.kind === 'nats';
  const nats = as && isNeeded ? await connect(config, logger, as) : undefined;
  if (nats) {
    openings.add({
      unhealthyReason: async () => (nats.isUp() ? undefined : 'NATS is away'),
      close: () => nats.close(),
    });
  }
  return { config, logger, openings, nats };
}

/** Returns what `parts` opens, and closes all of it again where one of them fails. */
export async function open<T extends object>(
  config: Config,
  logger: Logger,
  side: NatsSide | 'documents' | undefined,
  parts: (around: Surroundings) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  const openings = new Openings();
  try {
    const opened = await parts(await surroundings(config, logger, openings, side));
    return { ...opened, close: () => openings.close() };
  } catch (error) {
    await openings.close();
    throw error;
  }
}

/** Returns what `use` finds in what it opens, and closes all of that. */
export async function whileOpen<T>(
  config: Config,
  logger: Logger,
  side: NatsSide | 'documents' | undefined,
  use: (around: Surroundings) => Promise<T>,
): Promise<T> {
  const { found, close } = await open(config, logger, side, async (around) => ({
    found: await use(around),
  }));
  await close();
  return found;
}
