/** An account that leaves telling texts wherever it can, and the search for them after its erasure. */
import type { Test } from 'tap';
import { cliJson, refuses, runCli } from './cli.ts';
import { eventually } from './deadline.ts';
import { type LogEvent, readLog, violations } from './invariants.ts';
import type { Launched, Service } from './service.ts';
import { findTexts } from './telling-texts.ts';

export const SETTINGS = {
  TRUST_PROXY: 'true',
  LOG_LEVEL: 'trace',
  RATE_LIMIT_PRO: '100000',
  RATE_LIMIT_ANONYMOUS: '100000',
  // The requests of failures are deleted before an export is compared with what is kept.
  FAILED_RETENTION_SECONDS: '0',
};

export const EMAIL = 'zerlina.quibble@telling-texts.example';
const PASSWORD = 'vexing-quartz-parliament-68';
export const TEXTS = {
  address: EMAIL,
  password: PASSWORD,
  keyName: 'Gwendolyn-laptop-of-Zerlina',
  html: 'Sphinx-of-black-quartz-judge-my-vow',
  header: 'Jackdaws-love-my-big-sphinx',
  title: 'Pack-my-box-with-five-dozen',
  attachedFile: 'How-vexingly-quick-daft-zebras-jump',
  consoleText: 'Bright-vixens-jump-dozy-fowl-quack',
  missingPart: 'crazy-fredericka-bought-many-opals',
  selector: 'waltz-bad-nymph-for-quick-jigs',
  host: 'amazingly-few-discotheques.invalid',
  cookie: 'glib-jocks-quiz-nymph-to-vex-dwarf',
  filename: 'the-five-boxing-wizards-jump.pdf',
  reference: 'Amazingly-few-wizards-fix-quotas-4711',
  tagValue: 'Quizzical-twins-proved-my-hijack-bug-fix',
  pageTitle: 'Grumpy-wizards-make-toxic-brew-for-jovial-queens',
  idempotencyKey: 'quick-zephyrs-blow-vexing-daft-jim',
  requestId: 'two-driven-jocks-help-fax-my-big-quiz',
  clientAddress: '203.0.113.177',
  webhook: 'sixty-zippers-quickly-picked.invalid',
  webhookNote: 'woven-jute-bag-of-Zerlina',
  path: 'heavy-boxes-perform-quick-waltzes',
} as const;

const HEADERS = { 'X-Request-Id': TEXTS.requestId, 'X-Forwarded-For': TEXTS.clientAddress };

export interface Deployment {
  readonly api: Service;
  /** All processes whose lines are looked at. */
  readonly processes: readonly Launched[];
  /** Everything that is stored, by its place. */
  readonly stored: () => Map<string, Buffer>;
}

type Call = (method: string, path: string, body?: object, headers?: object) => Promise<Response>;

const callTo =
  ({ url }: Service, credential: object): Call =>
  (method, path, body, headers) =>
    fetch(`${url}/api/v1${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...HEADERS, ...credential, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });

const idOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { id: string }).id;

/** Uses the account in every way that leaves texts behind. */
export async function useAccount(t: Test, { api }: Deployment) {
  const { place } = api;
  const create = ['account', 'create', EMAIL, '--plan', 'pro', '--password-stdin'];
  const { id } = (await cliJson(place, create, { input: PASSWORD })) as { id: string };
  const made = await cliJson(place, ['key', 'create', EMAIL, '--name', TEXTS.keyName]);
  const { key } = made as { key: string };
  const call = callTo(api, { 'X-API-Key': key });
  const anonymous = callTo(api, {});
  const pair = { email: EMAIL, password: PASSWORD };
  const tokens = (await (await anonymous('POST', '/auth/jwt/create/', pair)).json()) as {
    access: string;
    refresh: string;
  };
  await anonymous('POST', '/auth/jwt/create/', { ...pair, password: `${PASSWORD}!` });
  await anonymous('POST', '/auth/jwt/create/', { email: `not-${EMAIL}`, password: PASSWORD });
  await call('GET', `/${TEXTS.path}/?${TEXTS.path}`);

  const hook = { url: `https://${TEXTS.webhook}/`, description: TEXTS.webhookNote };
  const { secret } = (await (await call('POST', '/webhooks/', hook)).json()) as { secret: string };
  t.match(secret, /^whsec_/);

  const wait = { Prefer: 'wait=30' };
  const page = `<title>${TEXTS.pageTitle}</title><h1>${TEXTS.html}</h1><script>console.error('${TEXTS.consoleText}')</script>
    <img src="http://127.0.0.1/${TEXTS.missingPart}.png"><p>${'x'.repeat(90_000)}</p>`;
  const rich = {
    html: page,
    header_html: `<b>${TEXTS.header}</b>`,
    metadata: { title: TEXTS.title },
    files: { 'a.css': Buffer.from(`/* ${TEXTS.attachedFile} */`).toString('base64') },
    filename: TEXTS.filename,
    reference: TEXTS.reference,
    tags: { customer: TEXTS.tagValue },
  };
  /** The record of a conversion at its end, however late that comes. */
  const ended = async (answer: Response): Promise<string> => {
    const path = `/conversions/${await idOf(answer)}/`;
    return await eventually('its end', async () => {
      const text = await (await call('GET', path, undefined, wait)).text();
      return /"status":"(completed|failed)"/.test(text) ? text : undefined;
    });
  };
  const idempotent = { ...wait, 'Idempotency-Key': TEXTS.idempotencyKey };
  const completed = JSON.parse(await ended(await call('POST', '/pdf/', rich, idempotent))) as {
    id: string;
    file_url: string;
    warnings: string[];
  };
  t.match(completed, { status: 'completed' });
  t.ok(completed.warnings.some((each) => each.includes(TEXTS.missingPart)));
  t.equal((await fetch(completed.file_url, { headers: HEADERS })).status, 200);
  const small = { html: `<p>${TEXTS.html}</p>`, wait_for: { selector: `#${TEXTS.selector}` } };
  const failed = [
    await call('POST', '/pdf/', small, wait),
    await call(
      'POST',
      '/pdf/',
      { url: `http://${TEXTS.host}/${TEXTS.path}`, cookies: [{ name: 'a', value: TEXTS.cookie }] },
      wait,
    ),
  ];
  const messages = await Promise.all(failed.map(ended));
  t.match(messages[0], TEXTS.selector);
  t.match(messages[1], /"failed"/);
  return { id, call, tokens, completed };
}

/** Asks for conversions until one is being rendered; others wait. */
async function begin(call: Call, log: () => readonly LogEvent[]): Promise<readonly string[]> {
  const before = log().filter(({ type }) => type === 'ConversionStarted').length;
  const slow = { html: `<h1>${TEXTS.html}</h1>`, wait_for: { delay_ms: 6000 } };
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push(await idOf(await call('POST', '/pdf/', slow)));
  await eventually('a rendering', () => {
    const starts = log().filter(({ type }) => type === 'ConversionStarted');
    return starts.length > before ? true : undefined;
  });
  return ids;
}

const said = ({ processes }: Deployment): Map<string, Buffer> =>
  new Map(
    processes.map(({ output }, n): [string, Buffer] => [
      `what process ${n} said`,
      Buffer.from(output.stdout + output.stderr),
    ]),
  );

export async function eraseAndSearch(t: Test, deployment: Deployment): Promise<void> {
  const { api } = deployment;
  const { place } = api;
  const log = (): LogEvent[] => readLog(place.dataDir);
  const { id, call, tokens, completed } = await useAccount(t, deployment);
  const unended = await begin(call, log);

  const before = log();
  const erased = await cliJson(place, ['account', 'erase', EMAIL, '--yes']);
  t.strictSame(erased, { id, email: EMAIL, erased: true });
  t.equal((await call('GET', '/account/')).status, 401, 'the next request');
  const bearer = { Authorization: `Bearer ${tokens.access}` };
  t.equal((await callTo(api, bearer)('GET', '/account/events/')).status, 401);
  const { refresh } = tokens;
  t.equal((await callTo(api, {})('POST', '/auth/jwt/refresh/', { refresh })).status, 401);
  const pair = { email: EMAIL, password: PASSWORD };
  t.equal((await callTo(api, {})('POST', '/auth/jwt/create/', pair)).status, 401);
  t.equal((await fetch(completed.file_url, { headers: HEADERS })).status, 410);

  const ends = log().filter(({ type }) => type === 'ConversionFailed');
  for (const conversionId of unended) {
    const end = ends.find(({ stream }) => stream === `conversion-${conversionId}`);
    t.match(JSON.parse(end?.data ?? '{}'), { code: 'account_erased' });
  }
  // A conversion of somebody else, so that renderers have left the erased account's pages.
  const other = api.client();
  const { id: conversionId } = await other.create({ html: '<p>of somebody else</p>' });
  t.equal((await other.wait(conversionId)).status, 'completed');

  t.strictSame(findTexts(deployment.stored(), TEXTS), [], 'stored, while the service runs');
  t.strictSame(findTexts(said(deployment), TEXTS), [], 'said');
  const history = await runCli(place, ['history', id, '--json']);
  const entries = JSON.parse(history.stdout) as { type: string; data: object }[];
  t.match(entries.at(-1), { type: /Erasure|Ignored/ });
  t.strictSame(findTexts(new Map([['the history', history.bytes]]), TEXTS), []);
  const forPeople = await runCli(place, ['history', id]);
  t.match(
    forPeople.stdout,
    /  conv_\w+  \(key pk_live_\w{4}… of a removed person \(owner\)\)$/m,
    'a key without its name',
  );
  const opened = entries.find(({ type }) => type === 'AccountOpened');
  const unnamed = { accountId: id, email: 'a removed person', plan: 'pro' };
  t.strictSame(opened?.data, unnamed, 'nothing sealed is shown');
  t.match(await cliJson(place, ['account', 'erase', EMAIL, '--yes']), { erased: true }, 'again');
  t.strictSame(log().slice(0, before.length), before, 'no event is touched');
  t.match(await cliJson(place, ['projections', 'rebuild']), {}, 'the log replays');
  await refuses(t, place, ['account', 'show', EMAIL], 1, /There is no account for/);

  const fresh = (await cliJson(place, ['account', 'create', EMAIL])) as { id: string };
  t.not(fresh.id, id, 'the address is free for a new account');
  await cliJson(place, ['account', 'erase', EMAIL, '--yes']);
  for (const each of deployment.processes) t.match(await each.stop(), { code: 0 });
  t.strictSame(findTexts(deployment.stored(), TEXTS), [], 'stored, after a stop');
  t.strictSame(findTexts(said(deployment), TEXTS), []);
  t.strictSame(violations(log(), { settled: true }), []);
}
