/** Plans what happens to a deployment, round by round: the same for the same seed. */
import { type Random, seededRandom } from '../support/random.ts';
import { POINTS, type Point } from './points.ts';

export const ROUNDS_A_DEPLOYMENT = 10;

export type SiteName = 'one process' | 'two processes' | 'nodes' | 'nodes on a server';

/** The part that a fault takes hold of; two faults of a round never have the same one. */
type Part = 'process' | 'nats' | 'lease' | 'disk' | 'store' | 'blobs' | 'all';

interface FaultKind {
  readonly part: Part;
  /** How often it is chosen, against others. */
  readonly weight: number;
  /** The longest that it lasts, for those that last. */
  readonly maxMs?: number;
}

export const FAULTS = {
  'a process is killed': { part: 'process', weight: 4 },
  'a process is killed at a point': { part: 'process', weight: 10 },
  'a process is killed at a sync': { part: 'process', weight: 2 },
  'a process is stopped': { part: 'process', weight: 2 },
  'a process is frozen': { part: 'process', weight: 3, maxMs: 3000 },
  'a process is frozen past its lease': { part: 'process', weight: 1 },
  'a Chrome is killed': { part: 'process', weight: 3 },
  'a Chrome is frozen': { part: 'process', weight: 1, maxMs: 2000 },
  'fsync fails': { part: 'process', weight: 3, maxMs: 1500 },
  'the clock jumps': { part: 'process', weight: 3, maxMs: 1500 },
  'the disk is full': { part: 'disk', weight: 3, maxMs: 1500 },
  'two lead': { part: 'lease', weight: 3, maxMs: 1500 },
  'everything is killed': { part: 'all', weight: 2 },
  'NATS is killed': { part: 'nats', weight: 9, maxMs: 2500 },
  'NATS is stopped': { part: 'nats', weight: 1, maxMs: 2500 },
  'NATS loses its data': { part: 'nats', weight: 2, maxMs: 2500 },
  'NATS is frozen': { part: 'nats', weight: 2, maxMs: 3000 },
  'connections to NATS are cut': { part: 'nats', weight: 3, maxMs: 1500 },
  'connections to NATS fall silent': { part: 'nats', weight: 2, maxMs: 2500 },
  'connections to NATS are slow': { part: 'nats', weight: 2, maxMs: 2500 },
  'a late outcome is reported': { part: 'lease', weight: 2 },
  'the event store is out of reach': { part: 'store', weight: 3, maxMs: 2500 },
  'the answers of the event store are lost': { part: 'store', weight: 3, maxMs: 2500 },
  'the event store is killed': { part: 'store', weight: 3, maxMs: 2500 },
  'the blob store is away': { part: 'blobs', weight: 3, maxMs: 5000 },
} as const satisfies Readonly<Record<string, FaultKind>>;

export type FaultName = keyof typeof FAULTS;

const isOverNats = (site: SiteName): boolean => site === 'nodes' || site === 'nodes on a server';

/** Whether the fault can befall such a deployment at all. */
export function befalls(site: SiteName, fault: FaultName): boolean {
  const { part } = FAULTS[fault];
  if (part === 'nats' || fault === 'a late outcome is reported') return isOverNats(site);
  // A frozen process keeps a lock on a file for good.
  if (fault === 'a process is frozen past its lease') return isOverNats(site);
  if (fault === 'two lead') return site !== 'one process';
  if (part === 'store' || part === 'blobs') return site === 'nodes on a server';
  return part !== 'disk' || site !== 'nodes on a server';
}

export interface PlannedFault {
  readonly name: FaultName;
  /** Which of the processes, counted from 0, for a fault of a process. */
  readonly member: number;
  /** The time that it begins after the clients. */
  readonly afterMs: number;
  readonly forMs: number;
  /** Where the process is killed, and at the how manieth time that it gets there. */
  readonly point: Point;
  readonly nth: number;
  readonly clockMs: number;
}

/** The processes of each kind of deployment, in their order. */
export const MEMBERS: Readonly<Record<SiteName, readonly ('all' | 'api' | 'renderer')[]>> = {
  'one process': ['all'],
  'two processes': ['all', 'all'],
  nodes: ['api', 'api', 'renderer', 'renderer'],
  'nodes on a server': ['api', 'api', 'renderer', 'renderer'],
};

const names = (site: SiteName): FaultName[] =>
  (Object.keys(FAULTS) as FaultName[]).filter((name) => befalls(site, name));

function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[random.integer(0, from.length - 1)];
  if (picked === undefined) throw new Error('There is nothing to choose from.');
  return picked;
}

function pickFault(random: Random, site: SiteName): FaultName {
  const weighted = names(site).flatMap((name) =>
    Array.from({ length: FAULTS[name].weight }, () => name),
  );
  return pick(random, weighted);
}

function pointsOf(role: 'all' | 'api' | 'renderer'): Point[] {
  return (Object.keys(POINTS) as Point[]).filter((point) => {
    const isRenderers = point.includes(' report ');
    return role === 'all' || isRenderers === (role === 'renderer');
  });
}

function planFault(random: Random, site: SiteName, name: FaultName): PlannedFault {
  const { part, maxMs = 0 }: FaultKind = FAULTS[name];
  const all = MEMBERS[site];
  // A renderer has no store to sync, and no clock that decides anything.
  const able = all.flatMap((role, index) => {
    const needsLog = name === 'fsync fails' || name === 'a process is killed at a sync';
    const needsChrome = name.includes('Chrome');
    if (needsLog && role === 'renderer') return [];
    return needsChrome && role === 'api' ? [] : [index];
  });
  const member = part === 'process' ? pick(random, able) : 0;
  const minutes = pick(random, [-120, -10, -1, 1, 10, 120]);
  return {
    name,
    member,
    afterMs: random.integer(0, 800),
    forMs: maxMs === 0 ? 0 : random.integer(100, maxMs),
    point: pick(random, pointsOf(all[member] ?? 'all')),
    nth: random.integer(1, 3),
    clockMs: minutes * 60_000,
  };
}

/** Two faults that take hold of the same part cannot be told apart, nor be undone one by one. */
function collides(one: PlannedFault, other: PlannedFault): boolean {
  const parts: Part[] = [FAULTS[one.name].part, FAULTS[other.name].part];
  if (parts.includes('all')) return true;
  // Whom a lease is taken from is looked up in what lives.
  if (parts.includes('lease')) return true;
  if (parts[0] !== parts[1]) return false;
  return parts[0] !== 'process' || one.member === other.member;
}

/** The faults of one round: one, two or three at a time. */
function planRound(random: Random, site: SiteName): PlannedFault[] {
  const faults: PlannedFault[] = [];
  for (let wanted = pick(random, [1, 1, 1, 2, 2, 3]); wanted > 0; wanted -= 1) {
    const fault = planFault(random, site, pickFault(random, site));
    if (!faults.some((other) => collides(fault, other))) faults.push(fault);
  }
  return faults;
}

export interface Plan {
  readonly site: SiteName;
  readonly rounds: readonly (readonly PlannedFault[])[];
}

/** @param sites the kinds of deployment that there can be here; one that is there twice comes twice as often */
export function planOf(seed: number, sites: readonly SiteName[]): Plan {
  const site = sites[seed % sites.length];
  if (site === undefined) throw new Error('There is no kind of deployment to choose from.');
  const random = seededRandom(seed);
  const rounds = Array.from({ length: ROUNDS_A_DEPLOYMENT }, () => planRound(random, site));
  return { site, rounds };
}

export function describeFault(fault: PlannedFault, site: SiteName): string {
  const { name, member, afterMs, forMs, point, nth, clockMs } = fault;
  const facts = [`after ${afterMs} ms`];
  if (FAULTS[name].part === 'process') facts.push(`${MEMBERS[site][member] ?? ''} ${member + 1}`);
  if (forMs > 0) facts.push(`for ${forMs} ms`);
  if (name === 'a process is killed at a point') facts.push(`${point} (${POINTS[point]}), ${nth}.`);
  if (name === 'a process is killed at a sync') facts.push(`${nth}.`);
  if (name === 'the clock jumps') facts.push(`by ${clockMs / 60_000} minutes`);
  return `${name} (${facts.join(', ')})`;
}
