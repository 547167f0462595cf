/** The invariants of docs/architecture.md, held against a deployment after a round: from outside, and from its log. */
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isPressledgerError } from '../../client/src/errors.ts';
import type { EventOf } from '../../src/domain/events.ts';
import { errorMessage } from '../../src/errors/error-message.ts';
import { cliJson } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { balanceOf, type LogEvent, violations } from '../support/invariants.ts';
import { openPdf } from '../support/pdf.ts';
import { descendants, processesOf } from '../support/processes.ts';
import { readModelRows } from '../support/read-model.ts';
import { checkPeople } from './people-checks.ts';
import type { Client, Promised, Promises } from './promises.ts';
import type { Member, Site } from './site.ts';

/** All that was accepted has ended by then. A job of a lost renderer comes back after 15 s, up to three times. */
const SETTLED_WITHIN_MS = 90_000;
/** Rendering goes on so soon after NATS is there again. */
const RENDERS_WITHIN_MS = 20_000;
/** Chromes of a process that was killed are gone by then. */
const GONE_WITHIN_MS = 10_000;
/** Its first try, and the second of one that was cut off. */
const TOLD_WITHIN_MS = 30_000;
/** PDFs of a round that are opened; of the others the hash is enough. */
const OPENED = 2;

const CONVERSION_STREAM = /^conversion-(.*)$/;

export interface Checked {
  readonly problems: readonly string[];
  /** The time from the end of the faults to the end of all work. */
  readonly settledMs: number;
  /** The time from the return of NATS to the next PDF. */
  readonly rendersAgainMs?: number;
}

/** Looks at something; what that throws is a problem, too. */
async function told(what: string, look: () => Promise<readonly string[]>): Promise<string[]> {
  try {
    return (await look()).map((problem) => `${what}: ${problem}`);
  } catch (error) {
    return [`${what}: ${errorMessage(error)}`];
  }
}

/** 2 to 5, 7, 8, and what of the others a log alone can tell. */
async function settledLog(site: Site): Promise<readonly LogEvent[]> {
  const settled = async () => {
    const log = await site.log();
    return violations(log, { settled: true }).length === 0 ? log : undefined;
  };
  return await eventually('the end of all work', settled, SETTLED_WITHIN_MS).catch(
    async () => await site.log(),
  );
}

/** 1, 3, 10: an account reads all that it was promised, the balance of the log, and nothing of others. */
async function readsItsOwn(
  site: Site,
  client: Client,
  { promises, log, turn }: { promises: Promises; log: readonly LogEvent[]; turn: number },
): Promise<readonly string[]> {
  const problems: string[] = [];
  const http = site.client(client.apiKey, turn);
  const listed = new Set<string>();
  for await (const { id } of http.conversions({ pageSize: 100 })) listed.add(id);
  const logged = new Set(
    log.flatMap(({ type, stream, data }) =>
      type === 'ConversionRequested' && stream === `account-${client.accountId}`
        ? [(JSON.parse(data) as EventOf<'ConversionRequested'>['data']).conversionId]
        : [],
    ),
  );
  for (const id of [...listed, ...logged]) {
    if (!listed.has(id)) problems.push(`${id} is in the log and not listed`);
    if (!logged.has(id)) problems.push(`${id} is listed and not in the log`);
  }
  for (const { client: owner, id } of promises.conversions) {
    if ((owner.accountId === client.accountId) !== listed.has(id)) {
      problems.push(`${id} of ${owner.email} is ${listed.has(id) ? '' : 'not '}listed`);
    }
  }
  const { credits } = await http.account();
  const balance = balanceOf(log, client.accountId);
  if (credits !== balance) problems.push(`${credits} credits, and ${balance} by the log`);
  const foreign = promises.conversions.findLast(({ client: owner }) => owner !== client);
  if (foreign) {
    const seen = await http.get(foreign.id).then(
      () => 'readable',
      (error: unknown) =>
        isPressledgerError(error, 'not_found') ? undefined : errorMessage(error),
    );
    if (seen !== undefined) problems.push(`${foreign.id} of ${foreign.client.email} is ${seen}`);
  }
  return problems;
}

/** 6: the file is there, is the one of the log, and is a PDF: the traffic asks for no pictures. */
async function keepsItsPromise(
  site: Site,
  { client, id, fails }: Promised,
  { log, turn, opened }: { log: readonly LogEvent[]; turn: number; opened: boolean },
): Promise<readonly string[]> {
  const http = site.client(client.apiKey, turn);
  const record = await http.get(id);
  if (record.status !== (fails ? 'failed' : 'completed')) {
    return [`it is ${record.status}: ${record.error_message ?? ''}`];
  }
  if (fails) return [];
  const file = await buffer(await http.download(record));
  const end = log.find(
    ({ type, stream }) => type === 'ConversionCompleted' && stream === `conversion-${id}`,
  );
  const { pdf } = JSON.parse(end?.data ?? '{}') as Partial<EventOf<'ConversionCompleted'>['data']>;
  const sha256 = createHash('sha256').update(file).digest('hex');
  if (sha256 !== pdf?.sha256) return ['its file is not the one of the log'];
  if (opened && (await openPdf(file)).pages.length === 0) return ['its file has no pages'];
  return [];
}

/** 9: no node takes a key whose revocation was acknowledged. */
async function refusesRevoked(site: Site, { revoked }: Promises): Promise<readonly string[]> {
  const asked = revoked.flatMap(({ id, key }) =>
    site.services.map(async (_, turn) => {
      const answer = await site
        .client(key, turn)
        .account()
        .then(
          () => 'it is taken',
          (error: unknown) =>
            isPressledgerError(error, 'unauthorized') ? undefined : errorMessage(error),
        );
      return answer === undefined ? [] : [`${id}: ${answer}`];
    }),
  );
  return (await Promise.all(asked)).flat();
}

/** 11: every process that works for a member is below it. */
async function hasNoStrays({ process: node, name }: Member): Promise<readonly string[]> {
  let strays: readonly string[] = [];
  const none = (): true | undefined => {
    const family = new Set([node.pid, ...descendants(node.pid).map(({ pid }) => pid)]);
    strays = processesOf(node.place.tmpDir)
      .filter(({ pid }) => !family.has(pid))
      .map(({ pid, commandLine }) => `${name} left ${pid} ${commandLine.slice(0, 100)}`);
    return strays.length === 0 ? true : undefined;
  };
  await eventually('the end of strays', none, GONE_WITHIN_MS).catch(() => {});
  return strays;
}

/** 8, 12, 6 again: by the operator's own commands, with the checkpoint that was published a round ago. */
async function verifies(site: Site): Promise<readonly string[]> {
  const file = join(site.place.tmpDir, 'checkpoint');
  const [service] = site.services;
  const answer = await fetch(`${service?.url}/tlog/checkpoint`);
  const checkpoint = await answer.text();
  if (!answer.ok) return [`/tlog/checkpoint answers ${answer.status}: ${checkpoint}`];
  const known = site.hasCheckpoint ? ['--checkpoint', file] : [];
  const problems = await Promise.all([
    told('verify', async () => {
      await cliJson(site.place, ['verify', '--documents', ...known]);
      return [];
    }),
    told('projections verify', async () => {
      await cliJson(site.place, ['projections', 'verify']);
      return [];
    }),
  ]);
  writeFileSync(file, checkpoint);
  site.hasCheckpoint = true;
  return problems.flat();
}

/** 13: each end of a conversion reached its receiver at least once, signed under one id. */
async function isTold(site: Site, log: readonly LogEvent[]): Promise<readonly string[]> {
  const untold = (): readonly string[] => {
    const ids = new Map<string, string>();
    const problems: string[] = [];
    for (const { id, body } of site.receiver.received) {
      const name = `${body.type} of ${String(body.data['id'])}`;
      if ((ids.get(name) ?? id) !== id) problems.push(`${name} came as ${ids.get(name)} and ${id}`);
      ids.set(name, id);
    }
    const ends = { ConversionCompleted: 'completed', ConversionFailed: 'failed' } as const;
    for (const { type, stream } of log) {
      const end = ends[type as keyof typeof ends];
      const [, id = ''] = CONVERSION_STREAM.exec(stream) ?? [];
      const name = `conversion.${end} of ${id}`;
      if (end !== undefined && !ids.has(name)) problems.push(`nobody was told of ${name}`);
    }
    return problems;
  };
  const isDone = (): true | undefined => (untold().length === 0 ? true : undefined);
  await eventually('the deliveries', isDone, TOLD_WITHIN_MS).catch(() => {});
  return untold();
}

/** @param natsBackAt the time that NATS was there again, where it was away */
async function rendersAgain(
  site: Site,
  natsBackAt: number | undefined,
): Promise<number | undefined> {
  const [first] = site.clients;
  if (natsBackAt === undefined || first === undefined) return undefined;
  const isNew = async (): Promise<true | undefined> => {
    const log = await site.log();
    const back = performance.timeOrigin + natsBackAt;
    return log.some(
      ({ type, data }) =>
        type === 'ConversionCompleted' &&
        (JSON.parse(data) as EventOf<'ConversionCompleted'>['data']).completedAt > back,
    )
      ? true
      : undefined;
  };
  const left = RENDERS_WITHIN_MS - (performance.now() - natsBackAt);
  const created = site.client(first.apiKey, 0).create({ html: '<p>NATS is back</p>' });
  // Where the API cannot take it yet, another conversion that waits will do.
  await Promise.all([
    created.catch(() => {}),
    eventually('a PDF after the return of NATS', isNew, Math.max(0, left)),
  ]);
  return Math.round(performance.now() - natsBackAt);
}

export async function checkRound(
  site: Site,
  promises: Promises,
  { round, natsBackAt }: { readonly round: number; readonly natsBackAt: number | undefined },
): Promise<Checked> {
  const began = performance.now();
  const problems = promises.complaints.splice(0).map((complaint) => `a client: ${complaint}`);
  let rendersAgainMs: number | undefined;
  problems.push(
    ...(await told('NATS is back', async () => {
      rendersAgainMs = await rendersAgain(site, natsBackAt);
      return [];
    })),
  );
  const log = await settledLog(site);
  const settledMs = Math.round(performance.now() - began);
  problems.push(...violations(log, { settled: true }));
  for (const [turn, client] of site.clients.entries()) {
    const about = { promises, log, turn: round + turn };
    problems.push(...(await told(client.email, () => readsItsOwn(site, client, about))));
  }
  const own = promises.conversions.filter((promised) => promised.round === round);
  for (const [n, promised] of own.entries()) {
    const about = { log, turn: round + n, opened: n < OPENED };
    problems.push(...(await told(promised.id, () => keepsItsPromise(site, promised, about))));
  }
  problems.push(...(await told('webhooks', () => isTold(site, log))));
  problems.push(...(await told('people', () => checkPeople(site, promises.people))));
  problems.push(...(await told('revoked keys', () => refusesRevoked(site, promises))));
  for (const member of site.members) {
    const ended = await member.process.endWithin(0);
    if (ended) problems.push(`${member.name} has ended by itself: ${ended.code ?? ended.signal}`);
    else problems.push(...(await told('processes', () => hasNoStrays(member))));
  }
  problems.push(...(await told('commands', () => verifies(site))));
  return { problems, settledMs, ...(rendersAgainMs !== undefined && { rendersAgainMs }) };
}

/** Stops everything, and looks at what is left. */
export async function checkEnd(site: Site): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { process: node, name } of site.members.toReversed()) {
    const { code, signal } = await node.stop();
    if (code !== 0) problems.push(`${name} was stopped and ended with ${code ?? signal}`);
  }
  for (const { process: node, name } of site.members) {
    problems.push(...(await node.leftovers()).map((left) => `${name} left ${left}`));
  }
  if (site.name === 'nodes on a server') return problems;
  const { dataDir } = site.place;
  const live = readModelRows(dataDir);
  rmSync(join(dataDir, 'read-model'), { recursive: true });
  await cliJson(site.place, ['projections', 'rebuild']);
  const rebuilt = readModelRows(dataDir);
  for (const [table, rows] of Object.entries(live)) {
    const made = new Set(rebuilt[table]);
    for (const row of rows)
      if (!made.has(row)) problems.push(`${table} rebuilt lacks ${String(row)}`);
    if (made.size > rows.length)
      problems.push(`${table} rebuilt has ${made.size - rows.length} more rows`);
  }
  return problems;
}

/** The lives of the conversions that problems name, to look for the cause. */
export async function livesOf(site: Site, problems: readonly string[]): Promise<readonly string[]> {
  const log = await site.log();
  const ids = new Set(problems.join('\n').match(/conv_\w+/g));
  return log
    .filter(({ stream, data }) => {
      const [, id = ''] = CONVERSION_STREAM.exec(stream) ?? [];
      return ids.has(id) || [...ids].some((each) => data.includes(each));
    })
    .map(
      ({ position, stream, type, data }) => `${position} ${stream} ${type} ${data.slice(0, 300)}`,
    );
}
