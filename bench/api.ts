/**
 * Throughput of the HTTP API beside a bare Koa route that answers the same JSON. The service, the bare
 * route and the load are a process each; rounds alternate; printed are medians, and their ratios to
 * the bare route of the same round. CPU is the answering process's own, per request.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BareRoutes, Load, Loaded, Served, ServiceReport, SignedIn } from './api/messages.ts';
import { inTemporaryDirectory, median, print } from './measure.ts';

const ROUNDS = 7;
const WARM_UP_ROUNDS = 2;
const CONNECTIONS = 32;
const GETS = 2_000;
const POSTS = 500;
const HTML_BYTES = 2_048;
const UNLIMITED = '1000000000';

interface Case {
  readonly name: string;
  readonly server: ChildProcess;
  readonly load: Load;
  /** What it is compared with. */
  readonly bare?: string;
}

interface Result {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly commits: number;
}

function start(name: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  return fork(join(import.meta.dirname, 'api', `${name}.ts`), {
    env: { ...process.env, ...env },
    serialization: 'advanced',
  });
}

async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  const gone = new AbortController();
  const ended = once(child, 'exit', { signal: gone.signal }).then(([code]) => {
    throw new Error(`A process of the benchmark ended with ${String(code)}.`);
  });
  child.send(question);
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal: gone.signal }), ended]);
    return answer as Answer;
  } finally {
    gone.abort();
    ended.catch(() => {});
  }
}

async function run(generator: ChildProcess, { server, load }: Case): Promise<Result> {
  const before = await ask<ServiceReport>(server, { type: 'report' });
  const { seconds } = await ask<Loaded>(generator, load);
  const after = await ask<ServiceReport>(server, { type: 'report' });
  return {
    perSecond: load.count / seconds,
    cpuMicros: (after.cpuMicros - before.cpuMicros) / load.count,
    commits: after.commits - before.commits,
  };
}

async function sameJson(
  { port, paths }: Served,
  headers: Record<string, string>,
): Promise<BareRoutes> {
  const answers = paths.map(async (path) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    return [path, await answer.json()] as const;
  });
  return { type: 'serve', routes: Object.fromEntries(await Promise.all(answers)) };
}

const get = (port: number, path: string, headers: Load['headers']): Load => ({
  port,
  method: 'GET',
  path,
  headers,
  status: 200,
  count: GETS,
  connections: CONNECTIONS,
});

/** @param token an access token lives five minutes, so each round has a fresh one */
function cases(
  service: ChildProcess,
  served: Served,
  bare: ChildProcess,
  bareServed: Served,
  token: string,
) {
  const [pending = '', completed = ''] = served.paths;
  const byKey = { 'X-API-Key': served.apiKey };
  const byToken = { Authorization: `Bearer ${token}` };
  const html = `<h1>Invoice</h1><p>${'x'.repeat(HTML_BYTES - 24)}</p>`;
  const post: Load = {
    ...get(served.port, '/api/v1/pdf/', { ...byKey, 'Content-Type': 'application/json' }),
    method: 'POST',
    body: JSON.stringify({ html }),
    status: 202,
    count: POSTS,
  };
  const { port } = served;
  const [barePending, bareCompleted] = ['bare Koa, pending', 'bare Koa, completed'];
  return [
    { name: barePending, server: bare, load: get(bareServed.port, pending, byKey) },
    { name: 'GET pending, API key', server: service, load: get(port, pending, byKey) },
    { name: 'GET pending, JWT', server: service, load: get(port, pending, byToken) },
    { name: bareCompleted, server: bare, load: get(bareServed.port, completed, byKey) },
    { name: 'GET completed, API key', server: service, load: get(port, completed, byKey) },
    { name: 'GET completed, JWT', server: service, load: get(port, completed, byToken) },
    { name: 'POST /pdf/, 2 KiB html', server: service, load: post },
  ].map((each) => {
    if (each.server === bare) return each;
    return { ...each, bare: each.name.includes('completed') ? bareCompleted : barePending };
  }) satisfies readonly Case[];
}

function report(all: readonly Case[], rounds: readonly ReadonlyMap<string, Result>[]): void {
  const results = (name: string): Result[] => rounds.flatMap((round) => round.get(name) ?? []);
  for (const { name, bare } of all) {
    const own = results(name);
    const line = [
      name.padEnd(24),
      `${median(own.map((each) => each.perSecond)).toFixed(0)}/s`.padStart(9),
      `${median(own.map((each) => each.cpuMicros)).toFixed(0)} µs CPU`.padStart(11),
    ];
    if (bare !== undefined) {
      const against = results(bare);
      const ratio = (of: (left: Result, right: Result) => number): string =>
        median(own.map((each, n) => of(each, against[n] ?? each))).toFixed(2);
      line.push(`ratio ${ratio((left, right) => left.perSecond / right.perSecond)}`);
      line.push(`by CPU ${ratio((left, right) => right.cpuMicros / left.cpuMicros)}`);
    }
    if (name.startsWith('POST')) {
      const commits = median(own.map((each) => each.commits));
      line.push(`${(POSTS / commits).toFixed(1)} accepted to a sync`);
    }
    print(line.join('  '));
  }
}

await inTemporaryDirectory(async (dir) => {
  const service = start('service', {
    DATA_DIR: dir,
    HOST: '127.0.0.1',
    PORT: '0',
    RATE_LIMIT_PRO: UNLIMITED,
    RATE_LIMIT_ANONYMOUS: UNLIMITED,
    // A line for each request, as everywhere, on standard error.
    LOG_LEVEL: 'info',
  });
  const [bare, generator] = [start('bare'), start('load')];
  try {
    const served = await ask<Served>(service, { type: 'serve' });
    const routes = await sameJson(served, { 'X-API-Key': served.apiKey });
    const bareServed = await ask<Served>(bare, routes);
    const rounds: Map<string, Result>[] = [];
    let all: readonly Case[] = [];
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
      const { access } = await ask<SignedIn>(service, { type: 'sign in' });
      all = cases(service, served, bare, bareServed, access);
      const results = new Map<string, Result>();
      for (const each of all) results.set(each.name, await run(generator, each));
      if (round >= 0) rounds.push(results);
    }
    report(all, rounds);
  } finally {
    const children = [service, bare, generator];
    for (const child of children) if (child.connected) child.disconnect();
    const running = children.filter((child) => child.exitCode === null);
    await Promise.all(running.map((child) => once(child, 'exit')));
  }
});
