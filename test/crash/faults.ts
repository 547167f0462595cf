/** How each fault of a plan is done to a deployment, and undone. */
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { EventOf } from '../../src/domain/events.ts';
import { noEventStoreCommand } from '../support/event-store-process.ts';
import { reportLate } from '../support/late-outcome.ts';
import type { Nodes } from '../support/nodes.ts';
import { descendants, isAlive } from '../support/processes.ts';
import type { FaultName, PlannedFault } from './plan.ts';
import { hasOwnMounts, type Member, type Site } from './site.ts';
import { failSyncs, killAtSync, noStrace } from './syncs.ts';

/** A point that is not met by then is not met in this round. */
const POINT_WITHIN_MS = 2000;
/** A process that got to its sync while that was undone has ended by then. */
const LAST_MOMENT_MS = 100;
/** A process that got to its point has ended by then, however busy the machine is. */
const DYING_MS = 60_000;
/** Longer than a lease of NATS is held without being renewed. */
const PAST_LEASE_MS = 11_500;
/** Left on a disk that is full, in bytes: less than any write needs. */
const LEAST_FREE = 4096;

export interface Injected {
  /** False: the place was not met in time, so nothing happened. */
  readonly happened: boolean;
  /** The time that NATS was there again, by `performance.now()`. */
  readonly natsBackAt?: number;
}

type Fault = (site: Site, fault: PlannedFault) => Promise<Partial<Injected> | void>;

function memberOf(site: Site, { member }: PlannedFault): Member {
  const found = site.members[member];
  if (found === undefined) throw new Error(`There is no process ${member + 1}.`);
  return found;
}

function nodesOf({ nodes }: Site): Nodes {
  if (nodes === undefined) throw new Error('This deployment has no NATS.');
  return nodes;
}

async function killed(site: Site, member: Member): Promise<void> {
  const { signal } = await member.process.kill();
  if (signal !== 'SIGKILL') throw new Error(`${member.name} ended by itself.`);
  await site.bringBack(member);
}

async function stopped(site: Site, member: Member): Promise<void> {
  const { code, signal } = await member.process.stop();
  if (code !== 0) throw new Error(`${member.name} was stopped and ended with ${code ?? signal}.`);
  await site.bringBack(member);
}

/**
 * @param undo resolves with the milliseconds in which the process may still end
 * @returns whether the process was killed by then, from elsewhere; it is up again
 */
async function untilKilled(
  site: Site,
  member: Member,
  undo: () => number | Promise<number>,
): Promise<boolean> {
  let ended = await member.process.endWithin(POINT_WITHIN_MS);
  // Before the next start, which would be killed in its turn.
  const endsWithinMs = await undo();
  ended ??= await member.process.endWithin(endsWithinMs);
  if (ended === undefined) return false;
  if (ended.signal !== 'SIGKILL') {
    throw new Error(`${member.name} ended by itself: ${member.process.output.stderr}`);
  }
  await site.bringBack(member);
  return true;
}

async function frozen(pids: readonly number[], forMs: number): Promise<void> {
  const send = (signal: NodeJS.Signals): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended.
      }
    }
  };
  send('SIGSTOP');
  await pause(forMs);
  send('SIGCONT');
}

const chromesOf = ({ process: node }: Member): number[] =>
  descendants(node.pid)
    .filter(
      (each) => isAlive(each) && / --(?:type|remote-debugging|user-data)/.test(each.commandLine),
    )
    .map(({ pid }) => pid);

async function awayNats(
  { nats }: Nodes,
  { forMs }: PlannedFault,
  how: 'kill' | 'stop' | 'lose data',
): Promise<Partial<Injected>> {
  await (how === 'stop' ? nats.stop() : nats.kill());
  await pause(forMs);
  await nats.restart({ loseData: how === 'lose data' });
  return { natsBackAt: performance.now() };
}

/** Takes the lease from its holder, so that another process leads, too, until the first notices. */
async function takeLease(site: Site, forMs: number): Promise<void> {
  if (site.nodes === undefined) {
    rmSync(join(site.place.dataDir, 'render.lock'));
    await pause(forMs);
    // Nobody notices that the file of a lock is gone: without new starts two would lead for good.
    for (const member of site.members) await stopped(site, member);
    return;
  }
  const connection = await connect({ servers: site.nodes.nats.url });
  try {
    const { streams } = await jetstreamManager(connection);
    for await (const name of streams.names()) {
      if (name.endsWith('LEASE_LEAD')) await streams.purge(name);
    }
  } finally {
    await connection.close();
  }
}

/** Fills the disk to its last page, again and again, for others give room back meanwhile. */
async function fillDisk(directory: string, forMs: number): Promise<void> {
  const until = performance.now() + forMs;
  const ballast: string[] = [];
  const free = (): number => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };
  try {
    while (performance.now() < until) {
      if (free() > LEAST_FREE) {
        const file = join(directory, `ballast-${ballast.length}`);
        ballast.push(file);
        try {
          writeFileSync(file, Buffer.alloc(free()));
        } catch {
          // Somebody else has taken the last of it.
        }
      }
      await pause(5);
    }
  } finally {
    for (const file of ballast) rmSync(file, { force: true });
  }
}

async function late(site: Site): Promise<Partial<Injected>> {
  const ended = (await site.log()).findLast(({ type }) => type === 'ConversionCompleted');
  if (ended === undefined) return { happened: false };
  const { conversionId, accountId } = JSON.parse(
    ended.data,
  ) as EventOf<'ConversionCompleted'>['data'];
  await reportLate(nodesOf(site).nats.url, { conversionId, accountId });
  return {};
}

const INJECT: Readonly<Record<FaultName, Fault>> = {
  'a process is killed': (site, fault) => killed(site, memberOf(site, fault)),
  'a process is killed at a point': async (site, fault) => {
    const member = memberOf(site, fault);
    member.control.arm(fault.point, fault.nth);
    const disarm = (): number => (member.control.disarm(fault.point) ? 0 : DYING_MS);
    return { happened: await untilKilled(site, member, disarm) };
  },
  'a process is killed at a sync': async (site, fault) => {
    const member = memberOf(site, fault);
    const undo = await killAtSync(member.process.pid, fault.nth);
    const end = async (): Promise<number> => {
      await undo();
      return LAST_MOMENT_MS;
    };
    return { happened: await untilKilled(site, member, end) };
  },
  'a process is stopped': (site, fault) => stopped(site, memberOf(site, fault)),
  'a process is frozen': (site, fault) => frozen([memberOf(site, fault).process.pid], fault.forMs),
  'a process is frozen past its lease': (site, fault) =>
    frozen([memberOf(site, fault).process.pid], PAST_LEASE_MS),
  'a Chrome is killed': async (site, fault) => {
    const chromes = chromesOf(memberOf(site, fault));
    const pid = chromes[fault.nth % Math.max(1, chromes.length)];
    if (pid === undefined) return { happened: false };
    process.kill(pid, 'SIGKILL');
  },
  'a Chrome is frozen': (site, fault) => frozen(chromesOf(memberOf(site, fault)), fault.forMs),
  'fsync fails': async (site, fault) => {
    const undo = await failSyncs(memberOf(site, fault).process.pid);
    await pause(fault.forMs);
    await undo();
  },
  'the clock jumps': async (site, fault) => {
    const { control } = memberOf(site, fault);
    control.setClock(fault.clockMs);
    await pause(fault.forMs);
    control.setClock(0);
  },
  'the disk is full': (site, { forMs }) => fillDisk(site.place.dataDir, forMs),
  'two lead': (site, { forMs }) => takeLease(site, forMs),
  'everything is killed': async (site) => {
    const { nodes, members } = site;
    const ends = members.map(({ process: node }) => node.kill());
    if (nodes) ends.push(nodes.nats.kill().then(() => ({ code: null, signal: null })));
    await Promise.all(ends);
    await nodes?.nats.restart();
    const natsBackAt = performance.now();
    await Promise.all(members.map((member) => site.bringBack(member)));
    return nodes ? { natsBackAt } : {};
  },
  'NATS is killed': (site, fault) => awayNats(nodesOf(site), fault, 'kill'),
  'NATS is stopped': (site, fault) => awayNats(nodesOf(site), fault, 'stop'),
  'NATS loses its data': (site, fault) => awayNats(nodesOf(site), fault, 'lose data'),
  'NATS is frozen': async (site, { forMs }) => {
    const { nats } = nodesOf(site);
    await nats.freeze();
    await pause(forMs);
    nats.thaw();
  },
  'connections to NATS are cut': async (site, { forMs }) => {
    const { natsWire } = nodesOf(site);
    for (let cuts = 0; cuts < 3; cuts += 1) {
      natsWire.cut();
      await pause(forMs / 3);
    }
  },
  'connections to NATS fall silent': async (site, { forMs }) => {
    const { natsWire } = nodesOf(site);
    natsWire.silence();
    await pause(forMs);
    natsWire.cut();
  },
  'connections to NATS are slow': async (site, { forMs }) => {
    const { natsWire } = nodesOf(site);
    natsWire.delayMs = Math.min(forMs, 500);
    await pause(forMs);
    natsWire.delayMs = 0;
  },
  'a late outcome is reported': (site) => late(site),
  'the event store is out of reach': async (site, { forMs }) => {
    const { storeWire } = nodesOf(site);
    if (!storeWire) return { happened: false };
    await storeWire.close();
    await pause(forMs);
    await storeWire.open();
  },
  'the answers of the event store are lost': async (site, { forMs }) => {
    const { storeWire } = nodesOf(site);
    if (!storeWire) return { happened: false };
    storeWire.answersAreLost = true;
    await pause(forMs);
    storeWire.answersAreLost = false;
    storeWire.cut();
  },
  'the event store is killed': async (site, { forMs }) => {
    const { eventStore } = nodesOf(site);
    if (!eventStore) return { happened: false };
    await eventStore.kill();
    await pause(forMs);
    await eventStore.start();
  },
  'the blob store is away': async (site, { forMs }) => {
    const { s3 } = nodesOf(site);
    if (!s3) return { happened: false };
    await s3.stop();
    await pause(forMs);
    await s3.start();
  },
};

/** Whether this machine lets it be done; what it does not is left out of a plan, and said at the end. */
export function canInject({ name }: PlannedFault): boolean {
  if (name === 'the disk is full') return hasOwnMounts;
  if (name === 'the event store is killed') return noEventStoreCommand === false;
  const needsStrace = name === 'fsync fails' || name === 'a process is killed at a sync';
  return !needsStrace || noStrace === false;
}

/** Resolves when the fault is over and all that it ended is up again. */
export async function inject(site: Site, fault: PlannedFault): Promise<Injected> {
  await pause(fault.afterMs);
  return { happened: true, ...(await INJECT[fault.name](site, fault)) };
}
