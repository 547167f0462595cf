/** A deployment that is broken on purpose, and the ways to its parts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { cliJson } from '../support/cli.ts';
import { type LogEvent, readLog } from '../support/invariants.ts';
import { startMailServer } from '../support/mail-server.ts';
import { KINDS, Nodes } from '../support/nodes.ts';
import { createPlace, LAUNCHER, type Place } from '../support/place.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Launched, Service } from '../support/service.ts';
import { meetPeople, PEOPLE_SETTINGS, type People } from './people.ts';
import { MEMBERS, type SiteName } from './plan.ts';
import { Control } from './points.ts';
import type { Client } from './promises.ts';

type Scope = Pick<Test, 'teardown'>;
type Settings = Readonly<Record<string, string>>;

const MANY = '1000000';
const SETTINGS = {
  FREE_CREDITS: MANY,
  RATE_LIMIT_PRO: MANY,
  RATE_LIMIT_ANONYMOUS: MANY,
  RENDER_TIMEOUT_MS: '10000',
  CHECKPOINT_SECONDS: '1',
  LOG_LEVEL: 'warn',
  // Webhooks go to a receiver on this machine.
  ALLOW_PRIVATE_NETWORK: 'true',
  // The disks are small, and they are to become full.
  MIN_FREE_DISK_BYTES: '0',
  ...PEOPLE_SETTINGS,
};
const DISK_SIZE = '96m';
/** A process that was killed is up again by then, whatever else happens meanwhile. */
const BACK_WITHIN_MS = 60_000;
const CALL_MS = 20_000;

export interface Member {
  readonly name: string;
  readonly role: 'all' | 'api' | 'renderer';
  readonly process: Launched;
  readonly control: Control;
}

/** Whether this process has mounts of its own, so that it may give a directory a small disk. */
export const hasOwnMounts = process.env['CRASH_OWN_MOUNTS'] === 'yes';

/** Gives the directory a disk of its own. */
function mountDisk(scope: Scope, directory: string): void {
  mkdirSync(directory, { recursive: true });
  if (!hasOwnMounts) return;
  const mount = ['-t', 'tmpfs', '-o', `size=${DISK_SIZE},mode=700`, 'none', directory];
  const { status, stderr } = spawnSync('mount', mount, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${directory} gets no disk of its own: ${stderr}`);
  scope.teardown(() => void spawnSync('umount', ['--lazy', directory]));
}

export class Site {
  readonly name: SiteName;
  readonly members: readonly Member[];
  /** Where the operator's commands work. */
  readonly place: Place;
  readonly nodes: Nodes | undefined;
  readonly clients: readonly Client[];
  readonly log: () => Promise<readonly LogEvent[]>;
  /** It is told of each end of a conversion of the clients. */
  readonly receiver: Receiver;
  readonly people: People;
  /** A checkpoint lies beside, which the log must contain from now on. */
  hasCheckpoint = false;

  private constructor(
    parts: Pick<
      Site,
      'name' | 'members' | 'place' | 'nodes' | 'clients' | 'log' | 'receiver' | 'people'
    >,
  ) {
    this.name = parts.name;
    this.members = parts.members;
    this.place = parts.place;
    this.nodes = parts.nodes;
    this.clients = parts.clients;
    this.log = parts.log;
    this.receiver = parts.receiver;
    this.people = parts.people;
  }

  static async open(scope: Scope, name: SiteName): Promise<Site> {
    const controls = createPlace(scope).tmpDir;
    const mail = await startMailServer(scope);
    const settings = { ...SETTINGS, SMTP_URL: mail.url };
    const opened =
      name === 'nodes' || name === 'nodes on a server'
        ? await openNodes(scope, name, controls, settings)
        : await openProcesses(scope, name, controls, settings);
    const { members, place } = opened;
    const [first] = servicesOf(members);
    if (first === undefined) throw new Error('Nothing serves the API.');
    const { apiKey, email } = first.firstStart;
    const known = [
      { email, apiKey, accountId: await idOf(place, email) },
      await newClient(place, 1),
      await newClient(place, 2),
      await newClient(place, 3),
    ] as const;
    const people = await meetPeople(place, [known[0], known[1], known[3]], mail.received);
    const receiver = await startReceiver(scope);
    const site = new Site({ ...opened, name, clients: known, receiver, people });
    const { clients } = site;
    for (const { apiKey: key } of clients) {
      const types = ['conversion.completed', 'conversion.failed'] as const;
      await site.client(key, 0).webhooks.create({ url: receiver.url, types });
    }
    return site;
  }

  get services(): readonly Service[] {
    return servicesOf(this.members);
  }

  /** At one of the nodes that serve, in turn by the number. */
  client(apiKey: string, turn: number): PressledgerClient {
    const services = this.services;
    const service = services[turn % services.length];
    if (service === undefined) throw new Error('Nothing serves the API.');
    return new PressledgerClient({ server: service.url, apiKey, retries: 0, timeoutMs: CALL_MS });
  }

  /** Starts what has ended, however often it takes. */
  async bringBack({ process: node }: Member): Promise<void> {
    const until = performance.now() + BACK_WITHIN_MS;
    for (;;) {
      try {
        return await node.start();
      } catch (error) {
        if (performance.now() > until) throw error;
        await pause(200);
      }
    }
  }
}

const servicesOf = (members: readonly Member[]): Service[] =>
  members.flatMap(({ process: node }) => (node instanceof Service ? [node] : []));

async function idOf(place: Place, email: string): Promise<string> {
  const { id } = (await cliJson(place, ['account', 'show', email])) as { id: string };
  return id;
}

async function newClient(place: Place, number: number): Promise<Client> {
  const email = `client${number}@example.com`;
  const account = ['account', 'create', '--email', email, '--credits', MANY, '--plan', 'pro'];
  const { id } = (await cliJson(place, account)) as { id: string };
  const created = await cliJson(place, ['key', 'create', email, '--name', 'crash']);
  return { email, accountId: id, apiKey: (created as { key: string }).key };
}

type Opened = Pick<Site, 'members' | 'place' | 'nodes' | 'log'>;

async function openProcesses(
  scope: Scope,
  name: SiteName,
  controls: string,
  settings: Settings,
): Promise<Opened> {
  const place = createPlace(scope, settings);
  const { dataDir } = place;
  mountDisk(scope, dataDir);
  const members: Member[] = [];
  for (const role of MEMBERS[name]) {
    const control = new Control(join(controls, String(members.length)));
    // Chrome's own files lie apart, so that each process's can be looked for.
    const { tmpDir } = createPlace(scope);
    const env = { ...place.env, ...control.env, TMPDIR: tmpDir };
    const service = new Service({ dataDir, tmpDir, env }, [LAUNCHER, 'start']);
    scope.teardown(() => service.kill());
    await service.start();
    members.push({ name: `start ${members.length + 1}`, role, process: service, control });
  }
  return { members, place, nodes: undefined, log: async () => readLog(dataDir) };
}

async function openNodes(
  scope: Scope,
  name: SiteName,
  controls: string,
  settings: Settings,
): Promise<Opened> {
  const kind = KINDS.find(({ shared }) => shared === (name === 'nodes'));
  if (kind === undefined) throw new Error('There is no such kind of nodes.');
  const nodes = await Nodes.start(scope, kind, settings);
  if (kind.shared) mountDisk(scope, nodes.place.dataDir);
  const members: Member[] = [];
  for (const role of MEMBERS[name]) {
    const control = new Control(join(controls, String(members.length)));
    const node =
      role === 'renderer' ? await nodes.renderer(control.env) : await nodes.api(control.env);
    members.push({ name: `${role} ${members.length + 1}`, role, process: node, control });
  }
  return { members, place: nodes.place, nodes, log: () => nodes.log() };
}
