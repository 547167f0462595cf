/** The real API on a real store, with one account that has a pending and a completed conversion. */
import { openAccount } from '../../src/accounts/accounts.ts';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { operatorContext } from '../../src/actors/command-context.ts';
import { readConfig } from '../../src/config/config.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import { openLog } from '../../src/log/log-origin.ts';
import { createLogger } from '../../src/observe/log.ts';
import { startApi } from '../../src/service/api.ts';
import { openCore } from '../../src/service/core.ts';
import { cpuMicros, type Question, type Served, type SignedIn } from './messages.ts';

const PASSWORD = 'a long enough password';
const EMAIL = 'bench@example.com';

const config = readConfig(process.env);
const core = await openCore(config, createLogger(config.logLevel), { create: true });
const readiness = () => ({ ready: true, missing: [] });
const api = await startApi(core, (await openLog(core)).origin, readiness, () => core.caughtUp());
const origin = `http://127.0.0.1:${api.port}/api/v1`;
const context = () => operatorContext(core.clock);

let commits = 0;
core.runner.onCommit(() => {
  commits += 1;
});

async function post<Answer>(path: string, headers: Record<string, string>, body: object) {
  const answer = await fetch(origin + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

async function complete(accountId: string, conversionId: string): Promise<void> {
  const sha256 = '0'.repeat(64);
  const command = {
    type: 'CompleteConversion',
    accountId,
    conversionId,
    renderer: 'bench',
    attempt: 1,
    at: core.clock.now(),
    document: { key: `${conversionId}/document-${sha256}`, sha256, bytes: 57 },
    pdf: { sha256, bytes: 1 },
    pages: 1,
    timings: { queued: 0, load: 0, ready: 0, print: 0, store: 0 },
    chrome: 'none',
    manifest: { key: `${conversionId}/manifest-${sha256}`, sha256, bytes: 1 },
  } as const;
  await core.actors.send(conversionAggregate, conversionId, command, context());
}

async function serve(): Promise<Served> {
  const wanted = { email: EMAIL, password: PASSWORD, plan: 'pro', credits: 1_000_000_000 } as const;
  const account = await openAccount(core, wanted, context());
  const { key: apiKey } = await createApiKey(core, account.id, 'bench', context());
  const paths: string[] = [];
  for (const end of [false, true]) {
    const { id } = await post<{ id: string }>('/pdf/', { 'X-API-Key': apiKey }, { html: '<p>x' });
    if (end) await complete(account.id, id);
    paths.push(`/api/v1/conversions/${id}/`);
  }
  return { port: api.port, paths, apiKey };
}

const signIn = (): Promise<SignedIn> =>
  post<SignedIn>('/auth/jwt/create/', {}, { email: EMAIL, password: PASSWORD });

async function stop(): Promise<void> {
  await api.stop();
  await core.close();
  process.exit();
}

process.on('message', (question: Question) => {
  if (question.type === 'report') process.send?.({ cpuMicros: cpuMicros(), commits });
  else {
    const work = question.type === 'sign in' ? signIn() : serve();
    void work.then((answer) => process.send?.(answer));
  }
});
process.on('disconnect', () => void stop());
