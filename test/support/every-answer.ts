/** Requests that have the API give each answer of its OpenAPI document. */
import type { Test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { suspendAccount } from '../../src/accounts/suspension.ts';
import { firstCommand } from '../../src/actors/command-context.ts';
import type { ActorSystem } from '../../src/actors/system.ts';
import { takeBack } from '../../src/conversions/take-back.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { listen } from '../../src/http/server.ts';
import { startBatches } from '../../src/process-managers/batches.ts';
import { startRefunds } from '../../src/process-managers/refunds.ts';
import { signatureLine } from '../../src/transparency-log/signed-note.ts';
import { mailAggregate } from '../../src/domain/mail.ts';
import { switchMail } from '../../src/process-managers/mails.ts';
import { type Api, BASE, type CallOptions, PASSWORD, startApi } from './api.ts';
import { setUpAuthenticator } from './one-time-codes.ts';
import { recordCosignature, recordTimestamp } from './attested.ts';
import { ownPage, SESSION, sessionCookie } from './dashboard.ts';
import { drives } from './documented.ts';
import { makeSigner, P12_PASSWORD } from './certificates.ts';
import { bearerOf, drivePeople, invite } from './every-people-answer.ts';
import { driveTemplates } from './every-template-answer.ts';
import { driveSignUp } from './every-sign-up-answer.ts';
import { driveWebhooks } from './every-webhook-answer.ts';
import { newOperator, setOperator, signedIn as operatorHeaders, tokensOf } from './operator.ts';
import { partsOf, rawHttp } from './raw-http.ts';
import { blobRef, PDF as PDF_DIGEST, TIMINGS } from './samples.ts';
import { pdfOf } from './written-pdf.ts';

const PDF = Buffer.from(`%PDF-1.7\n${'x'.repeat(1000)}\n%%EOF\n`);

/** The answers that were given, by their names, each with the JSON bodies that it had. */
class Answered {
  readonly bodies = new Map<string, unknown[]>();

  add({ seen }: Api, counts: (name: string) => boolean = () => true): void {
    for (const [name, bodies] of seen) {
      if (counts(name)) this.bodies.set(name, [...(this.bodies.get(name) ?? []), ...bodies]);
    }
  }
}

const FORGOTTEN = `${BASE}/auth/password/forgot/`;

/** The headers of an access token and of the dashboard's cookie, by signing in to the dashboard. */
const SIGN_UP = { SIGN_UP: 'open' };

async function signedIn(api: Api, email: string): Promise<Readonly<Record<string, string>>> {
  const body = { email, password: PASSWORD };
  const answer = await api.call('POST', SESSION, { headers: ownPage(), body });
  const access = String(answer.body['access']);
  return { ...ownPage(sessionCookie(answer)), Authorization: `Bearer ${access}` };
}

const optional = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };

/** What a request lacks or has too much of: 400, 401, 404, 413, 415. */
async function driveRefusals(t: Test, given: Answered) {
  const api = await startApi(t, { env: { MAX_BODY_BYTES: '2048' } });
  const { key, email, ...account } = await api.newAccount();
  await setOperator(api, account.id, true);
  const headers = await signedIn(api, email);
  const bounded = await Promise.all(
    [{ scopes: ['webhooks'] }, { scopes: ['history'] }, { addresses: ['192.0.2.1'] }].map(
      async (bounds) => {
        const asked = { key, body: { name: 'bounded', ...bounds } };
        return String((await api.call('POST', `${BASE}/api-keys/`, asked)).body['key']);
      },
    ),
  );
  const suspended = await suspendedAccount(api);
  for (const { method, path, operation, secured, needsSession, body } of drives(api.document)) {
    const credential = needsSession ? { headers } : secured ? { key } : { headers: ownPage() };
    const { responses } = operation;
    if (responses[403] && secured && !needsSession) {
      for (const other of [...bounded, suspended.key]) await api.call(method, path, { key: other });
    } else if (responses[403]) {
      await api.call(method, `${path}?token=x`, needsSession ? { key } : {});
    }
    if (responses[400]) {
      const wrong = body ? { ...credential, body: { unknown: 1 } } : credential;
      await api.call(method, body ? path : `${path}?page=0&as_of=then`, wrong);
    }
    if (responses[401]) {
      await api.call(method, path, { headers: ownPage(), ...optional('body', body) });
    }
    if (responses[404]) {
      const id = /conv_\w+/.exec(path)?.[0] ?? '';
      const values = new Map([
        ['token', api.fileTokens.mint(id, 60)],
        ['as_of', '0'],
      ]);
      const query = new URLSearchParams(
        (operation.parameters ?? []).flatMap(({ in: place, name }) => {
          const value = place === 'query' ? values.get(name) : undefined;
          return value === undefined ? [] : [[name, value] as [string, string]];
        }),
      );
      const whole = { ...credential, ...optional('body', body) };
      await api.call(method, `${path}?${query.toString()}`, whole);
    }
    if (body) {
      const large = { ...credential, body: { x: 'x'.repeat(3000) } };
      await api.call(method, path, large);
      const plain = { ...credential.headers, 'Content-Type': 'text/plain' };
      await api.call(method, path, { ...credential, headers: plain, body });
    }
  }
  const poor = await api.newAccount({ credits: 0 });
  await api.call('POST', `${BASE}/pdf/`, { key: poor.key, body: { html: '<p>x</p>' } });
  const requests = [{ html: '<p>x</p>' }];
  await api.call('POST', `${BASE}/batches/`, { key: poor.key, body: { requests } });
  const sources = [{ file: PDF.toString('base64') }];
  await api.call('POST', `${BASE}/documents/`, { key: poor.key, body: { sources } });
  await sendToAccount(
    api,
    { type: 'GrantCredits', accountId: poor.id, amount: 2, now: api.clock.now() },
    api.context(),
  );
  const asked = { key: poor.key, body: { html: '<p>x</p>' } };
  const doneId = String((await api.call('POST', `${BASE}/pdf/`, asked)).body['id']);
  const lastId = String((await api.call('POST', `${BASE}/pdf/`, asked)).body['id']);
  await api.complete(poor.id, doneId, PDF);
  await api.fail(poor.id, lastId, 'x');
  await api.call('POST', `${BASE}/conversions/${lastId}/retry/`, { key: poor.key });
  await api.call('POST', `${BASE}/conversions/${doneId}/rerender/`, { key: poor.key });
  await api.call('GET', '/nowhere');
  await api.call('PUT', '/healthz');
  given.add(api);
  const unbuilt = await startApi(t, { replace: () => ({ builtFolder: '/nowhere' }) });
  for (const path of ['/docs', '/docs/reference.js', '/client.tgz']) {
    const { status, body } = await unbuilt.call('GET', path);
    t.match(
      { status, body },
      { status: 404, body: { message: /^This is not built here\. "npm start"/ } },
    );
  }
  given.add(unbuilt);
  const opening = await startApi(t, { env: SIGN_UP });
  await driveSignUp(opening);
  given.add(opening);
  const closed = await startApi(t, { env: { PUBLIC_VERIFY: 'false', SMTP_URL: '' } });
  await closed.call('POST', '/verify/public', { body: { sha256: '0'.repeat(64) } });
  await closed.call('POST', FORGOTTEN, { body: { email: 'ada@example.com' } });
  await closed.call('GET', '/dashboard/offers');
  given.add(closed);
}

async function driveSessions(api: Api, email: string): Promise<void> {
  let headers = await signedIn(api, email);
  await api.call('GET', SESSION, { headers });
  await api.call('DELETE', SESSION, { headers });
  headers = await signedIn(api, email);
  const listed = await api.call('GET', `${BASE}/sessions/`, { headers });
  const [own] = listed.body as unknown as readonly { readonly id: string }[];
  await api.call('DELETE', `${BASE}/sessions/${own?.id}/`, { headers });
  headers = await signedIn(api, email);
  await api.call('DELETE', `${BASE}/sessions/`, { headers });
  headers = await signedIn(api, email);
  const body = { current_password: PASSWORD, new_password: 'another long password' };
  await api.call('POST', `${BASE}/account/password/`, { headers, body });
}

/** Does what a renderer does first: the conversion is processing then. */
async function start(api: Api, accountId: string, conversionId: string): Promise<void> {
  const at = api.clock.now();
  const by = { renderer: 'test', attempt: 1, delivery: 'one', at };
  const command = { type: 'StartConversion', accountId, conversionId, ...by } as const;
  const context = firstCommand(at, { kind: 'renderer', id: 'test' });
  await api.actors.send(conversionAggregate, conversionId, command, context);
}

async function driveBatches(api: Api, accountId: string, key: string): Promise<void> {
  const requests = [{ html: '<p>x</p>' }];
  const body = { requests, reference: 'R', tags: { a: 'b' } };
  const call = (method: string, path = '', options: CallOptions = {}) =>
    api.call(method, `${BASE}/batches/${path}`, { key, ...options });
  const { body: batch } = await call('POST', '', { body });
  const plain = await call('POST', '', { body: { requests } });
  await call('GET', `${String(plain.body['id'])}/`);
  const other = `${String(plain.body['id'])}/`;
  for (const zip of ['zip/', 'zip/?partial=x', 'zip/?partial=true']) {
    await call('GET', other + zip);
  }
  await call('DELETE', other);
  await call('GET', other);
  const own = `${String(batch['id'])}/`;
  await call('GET', own, { headers: { Prefer: 'wait=0' } });
  const [conversion = ''] = batch['conversions'] as readonly string[];
  const chosen = (id: string) => api.call('GET', `${BASE}/conversions/zip/?id=${id}`, { key });
  for (const id of ['', conversion, String(plain.body['id'])]) await chosen(id);
  await api.call('GET', `${BASE}/conversions/zip/`, { key });
  await start(api, accountId, conversion);
  await api.complete(accountId, conversion, PDF);
  const managers = startBatches(api);
  await call('GET', own, { headers: { Prefer: 'wait=30' } });
  await call('GET', `${own}zip/`);
  await chosen(conversion);
  await call('GET', `${own}events/`);
  await call('GET', `${own}events/?page=0`);
  await call('GET', other, { headers: { Prefer: 'wait=30' } });
  await call('GET', `${other}zip/`);
  const [failed = ''] = plain.body['conversions'] as readonly string[];
  await chosen(failed);
  await takeBack(api, { id: conversion, accountId }, api.context());
  await call('GET', `${own}zip/`);
  await chosen(conversion);
  await managers.stop();
  const { body: large } = await call('POST', '', { body: { requests } });
  const [of = ''] = large['conversions'] as readonly string[];
  await completeHuge(api, accountId, of);
  await call('GET', `${String(large['id'])}/zip/?partial=true`);
  await chosen(of);
  await call('GET');
}

/** Asks for a conversion once more: what is waiting, what completes and what fails. */
async function driveOnceMore(
  api: Api,
  act: 'retry' | 'rerender',
  { accountId, key, of: failing }: { accountId: string; key: string; of: string },
) {
  const retry = (of: string, idempotencyKey: string, accept = 'application/json') =>
    api.call('POST', `${BASE}/conversions/${of}/${act}/`, {
      key,
      headers: { 'Idempotency-Key': idempotencyKey, Prefer: 'wait=0', Accept: accept },
    });
  await retry(failing, '\u00e9');
  const ids = [await retry(failing, 'good'), await retry(failing, 'bad')].map(({ body }) =>
    String(body['id']),
  );
  const [good = '', bad = ''] = ids;
  await api.call('POST', `${BASE}/conversions/${good}/${act}/`, { key });
  const made = Buffer.concat([PDF, Buffer.from(`another by ${act}`)]);
  const findings = act === 'rerender' ? { rerender: { equal: false, pages: [1] } } : {};
  await api.complete(accountId, good, made, undefined, undefined, findings);
  await api.fail(accountId, bad, 'x', 'page_status');
  for (const which of ['good', 'bad']) {
    await retry(failing, which);
    await retry(failing, which, 'application/pdf');
  }
}

/** Work on documents, of which one completes and one fails. */
async function driveDocuments(api: Api, accountId: string, key: string): Promise<void> {
  const file = PDF.toString('base64');
  const post = (
    body: object,
    idempotencyKey = '',
    headers: Readonly<Record<string, string>> = {},
  ) =>
    api.call('POST', `${BASE}/documents/`, {
      key,
      body,
      headers: { ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }), ...headers },
    });
  const joined = { sources: [{ file }, { file }], steps: [{ type: 'merge' }] };
  const steps = [{ type: 'split', parts: ['1', '2'] }];
  await post({ sources: [{ file }], steps });
  const ids: string[] = [];
  for (const name of ['well', 'badly']) {
    const { body } = await post(joined, `documents ${name}`);
    ids.push(String(body['id']));
  }
  const [well = '', badly = ''] = ids;
  await api.call('GET', `${BASE}/conversions/${well}/request/`, { key });
  await post({ sources: [{ conversion: well }] });
  await api.complete(accountId, well, Buffer.concat([PDF, Buffer.from('joined')]));
  await api.fail(accountId, badly, 'x', 'unreadable_pdf');
  await api.call('GET', `${BASE}/conversions/${badly}/`, { key });
  for (const name of ['well', 'badly']) {
    for (const Accept of ['application/json', 'application/pdf']) {
      await post(joined, `documents ${name}`, { Accept, Prefer: 'wait=0' });
    }
  }
  await takeBack(api, { id: well, accountId }, api.context());
  await post({ sources: [{ conversion: well }] });
}

/** Statements of a month that is over, of which one completes and one fails. */
async function driveStatements(t: Test, given: Answered): Promise<void> {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  const month = new Date(api.clock.time).toISOString().slice(0, 7);
  const post = (idempotencyKey: string, headers: Readonly<Record<string, string>> = {}) =>
    api.call('POST', `${BASE}/usage/statements/`, {
      key,
      body: { month },
      headers: { 'Idempotency-Key': idempotencyKey, ...headers },
    });
  await post('early');
  api.clock.time += 40 * 24 * 60 * 60 * 1000;
  const ids = [await post('well'), await post('badly')].map(({ body }) => String(body['id']));
  const [well = '', badly = ''] = ids;
  await api.complete(id, well, PDF);
  await api.fail(id, badly, 'x', 'page_status');
  for (const name of ['well', 'badly']) {
    for (const Accept of ['application/json', 'application/pdf']) {
      await post(name, { Accept, Prefer: 'wait=0' });
    }
  }
  await takeBack(api, { id: well, accountId: id }, api.context());
  await post('well', { Accept: 'application/pdf', Prefer: 'wait=0' });
  given.add(api);
}

/** Links to a file that is made, downloaded and deleted, and to one that cannot be made. */
async function driveLinks(api: Api, accountId: string, key: string): Promise<void> {
  const convert = async () => {
    const { body } = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
    return String(body['id']);
  };
  const share = (id: string, body: object = {}) =>
    api.call('POST', `${BASE}/conversions/${id}/links/`, { key, body });
  const [made, failed] = [await convert(), await convert()];
  await share(made);
  await api.complete(accountId, made, PDF);
  await api.fail(accountId, failed, 'x', 'page_status');
  await share(failed);
  const url = String((await share(made)).body['url']);
  const whole = await api.call('GET', url);
  const same = { 'If-None-Match': whole.headers.get('etag') ?? '' };
  for (const headers of [same, { Range: 'bytes=0-9' }, { Range: 'bytes=9999-' }]) {
    await api.call('GET', url, { headers });
  }
  await api.call('GET', `${url}?disposition=x`);
  for (const query of ['', '?page=0']) {
    await api.call('GET', `${BASE}/conversions/${made}/links/${query}`, { key });
  }
  const other = String((await share(made)).body['id']);
  await api.call('DELETE', `${BASE}/conversions/${made}/links/${other}/`, { key });
  await takeBack(api, { id: made, accountId }, api.context());
  await api.call('GET', url);
  await share(made);
}

/** Has a PDF recorded that is larger than a ZIP file may be. */
async function completeHuge(api: Api, accountId: string, conversionId: string): Promise<void> {
  const at = api.clock.now();
  const by = { renderer: 'test', attempt: 1, at, accountId, conversionId };
  const blobs = { document: blobRef('document'), manifest: blobRef('manifest') };
  const pdf = { ...PDF_DIGEST, bytes: 2 ** 33 };
  const made = { pdf, pages: 1, timings: TIMINGS, chrome: 'test' };
  const command = { type: 'CompleteConversion', ...by, ...blobs, ...made } as const;
  await api.actors.send(conversionAggregate, conversionId, command, api.context());
}

async function driveSignature(t: Test, api: Api, key: string): Promise<void> {
  const body = { p12: makeSigner(t).p12.toString('base64'), password: P12_PASSWORD };
  const call = (method: string, sent?: object) =>
    api.call(method, `${BASE}/account/signature/`, { key, ...optional('body', sent) });
  await call('PUT', body);
  await call('PUT', { ...body, password: 'x' });
  await call('GET');
  await call('DELETE');
}

async function driveSuccesses(t: Test, given: Answered) {
  const api = await startApi(t, { env: { RETENTION_SECONDS: '60' } });
  const { id: accountId, email, key } = await api.newAccount();
  const bounds = {
    scopes: ['convert', 'read'],
    expires_at: '2100-01-01T00:00:00Z',
    addresses: ['127.0.0.1', '2001:db8::/32'],
    rate_limit: 10,
    credit_limit: 500,
    test: true,
  };
  const asked = { key, body: { name: 'bounded', ...bounds } };
  const bounded = await api.call('POST', `${BASE}/api-keys/`, asked);
  const tester = { key: String(bounded.body['key']) };
  await api.call('GET', `${BASE}/account/`, tester);
  const tests = { ...tester, body: { requests: [{ html: '<p>x</p>' }] } };
  const batch = await api.call('POST', `${BASE}/batches/`, tests);
  await api.call('GET', `${BASE}/batches/${String(batch.body['id'])}/`, { key });
  await driveLinks(api, accountId, key);
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const id = String(created.body['id']);
  await api.call('GET', `${BASE}/conversions/${id}/`, { key, headers: { Prefer: 'wait=0' } });
  const own = `${BASE}/conversions/${id}/file/`;
  await api.call('GET', own, { key });
  await api.complete(accountId, id, PDF);
  const record = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
  const file = String(record.body['file_url']);
  const whole = await api.call('GET', file);
  await api.call('HEAD', file);
  await api.call('GET', file, { headers: { Range: 'bytes=0-9' } });
  await api.call('GET', file, { headers: { Range: 'bytes=9999-' } });
  const same = { 'If-None-Match': whole.headers.get('etag') ?? '' };
  await api.call('GET', file, { headers: same });
  await api.call('GET', `${file}&disposition=x`);
  await api.call('GET', `${own}?disposition=x`, { key });
  for (const headers of [{}, same, { Range: 'bytes=0-9' }, { Range: 'bytes=9999-' }]) {
    await api.call('GET', own, { key, headers });
  }
  const repeat = (idempotencyKey: string, accept: string) =>
    api.call('POST', `${BASE}/pdf/`, {
      key,
      body: { html: '<p>x</p>' },
      headers: { 'Idempotency-Key': idempotencyKey, Prefer: 'wait=0', Accept: accept },
    });
  const failing = await repeat('fails', 'application/pdf');
  const failed = `${BASE}/conversions/${String(failing.body['id'])}/`;
  await start(api, accountId, String(failing.body['id']));
  await api.call('GET', failed, { key });
  await api.fail(
    accountId,
    String(failing.body['id']),
    'x',
    'page_status',
    Buffer.from('a picture'),
  );
  const refunds = startRefunds(api);
  while (!(await api.log()).some(({ type }) => type === 'CreditRefunded')) {
    await new Promise(setImmediate);
  }
  await refunds.stop();
  await api.call('GET', failed, { key });
  await repeat('fails', 'application/json');
  await repeat('fails', 'application/pdf');
  await api.call('GET', `${failed}file/`, { key });
  await api.call('GET', `${failed}picture/`, { key });
  await api.call('GET', `${failed}thumbnail/`, { key });
  await api.call('GET', `${failed}events/`, { key });
  const ending = await repeat('ends', 'application/pdf');
  const thumbnail = `${BASE}/conversions/${String(ending.body['id'])}/thumbnail/`;
  await api.call('GET', thumbnail, { key });
  await api.complete(accountId, String(ending.body['id']), pdfOf(['First']));
  await api.call('GET', thumbnail, { key });
  await repeat('ends', 'application/pdf');
  await repeat('ends', 'application/json');
  const [failedId, endedId] = [failing, ending].map(({ body }) => String(body['id']));
  await driveOnceMore(api, 'retry', { accountId, key, of: failedId ?? '' });
  await driveOnceMore(api, 'rerender', { accountId, key, of: endedId ?? '' });
  await api.call('POST', `${BASE}/conversions/${failedId}/rerender/`, { key });
  const pictured = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const picturedId = String(pictured.body['id']);
  await api.fail(accountId, picturedId, 'x', 'timeout', Buffer.from('a picture'));
  await takeBack(api, { id: picturedId, accountId }, api.context());
  await api.call('GET', `${BASE}/conversions/${picturedId}/picture/`, { key });
  api.clock.time += 61_000;
  await api.call('GET', thumbnail, { key });
  await api.call('POST', `${BASE}/conversions/${id}/retry/`, { key });
  await api.call('POST', `${BASE}/conversions/${id}/rerender/`, { key });
  await repeat('ends', 'application/pdf');
  await api.call('GET', file);
  await api.call('GET', own, { key });
  await driveBatches(api, accountId, key);
  await driveDocuments(api, accountId, key);
  const events = `/conversions/${id}/events/`;
  for (const path of ['checkpoint', 'key', 'tile/0/000.p/1', 'consistency?from=1&to=2']) {
    await api.call('GET', `/tlog/${path}`);
  }
  const { size } = await recordTimestamp(api, Buffer.from('made up'));
  await api.call('GET', `/tlog/timestamp/${size}`);
  await api.call('GET', `${BASE}/conversions/${id}/proof/`, { key });
  await api.call('GET', `${BASE}/conversions/${id}/evidence/`, { key });
  const sha256 = '0'.repeat(64);
  await api.call('POST', `${BASE}/verify/`, { key, body: { sha256 } });
  await api.call('POST', `${BASE}/verify/`, { key, body: { sha256: record.body['sha256'] } });
  const late = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const ofUrl = await api.call('POST', `${BASE}/pdf/`, {
    key,
    body: { url: 'https://example.com/' },
  });
  const lateId = String(late.body['id']);
  for (const conversion of [id, lateId, String(ofUrl.body['id']), String(failing.body['id'])]) {
    await api.call('GET', `${BASE}/conversions/${conversion}/request/`, { key });
    await api.call('GET', `${BASE}/conversions/${conversion}/manifest/`, { key });
  }
  await api.complete(accountId, lateId, PDF);
  await start(api, accountId, String(ofUrl.body['id']));
  await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  await api.call('GET', `${BASE}/conversions/${lateId}/manifest/`, { key });
  await api.call('HEAD', `${BASE}/conversions/stream/`, { key });
  const lists = [
    '/conversions/',
    '/account/ledger/?page_size=100',
    '/account/events/',
    '/api-keys/',
    '/account/usage/',
  ];
  for (const path of ['/account/', ...lists, events, `${events}?page=0`]) {
    await api.call('GET', BASE + path, { key });
  }
  await api.call('POST', '/verify/public', { body: { sha256 } });
  const inPublic = () =>
    api.call('POST', '/verify/public', { body: { sha256: record.body['sha256'] } });
  await inPublic();
  const publicName = `${BASE}/account/public-name/`;
  await api.call('PUT', publicName, { key, body: { name: 'Ada' } });
  await inPublic();
  await api.call('GET', publicName, { key });
  await api.call('DELETE', publicName, { key });
  await api.call('GET', '/dashboard/offers');
  // Nobody answers at the provider, and nothing was begun.
  await api.call('GET', '/dashboard/oidc/start', { headers: ownPage() });
  await api.call('GET', '/dashboard/oidc/callback');
  await api.call('POST', FORGOTTEN, { body: { email: 'ada@example.com' } });
  const low = `${BASE}/account/low-credits/`;
  await api.call('PUT', low, { key, body: { below: 50 } });
  await api.call('GET', low, { key });
  await api.call('DELETE', low, { key });
  await driveWebhooks(api, { id: accountId, key }, async () => {
    const { body } = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
    await api.complete(accountId, String(body['id']), PDF);
  });
  await driveSignature(t, api, key);
  await driveTemplates(api, key);
  const made = await api.call('POST', `${BASE}/api-keys/`, { key, body: { name: 'x' } });
  await api.call('DELETE', `${BASE}/api-keys/${String(made.body['id'])}/`, { key });
  const auth = (what: string, body: object) =>
    api.call('POST', `${BASE}/auth/jwt/${what}/`, { body });
  const pair = await auth('create', { email, password: PASSWORD });
  const { refresh } = pair.body;
  await auth('refresh', { refresh });
  await auth('revoke', { refresh });
  await drivePeople(api, email);
  await driveSessions(api, email);
  for (const path of ['/healthz', '/readyz']) await api.call('GET', path);
  for (const path of ['/openapi.json', '/docs', '/docs/reference.js', '/client.tgz']) {
    const { headers } = await api.call('GET', path);
    await api.call('GET', path, { headers: { 'If-None-Match': headers.get('etag') ?? '' } });
  }
  given.add(api);
}

/** Has the refusals of signing in given, too. */
async function suspendedAccount(api: Api) {
  const account = await api.newAccount();
  const { refresh } = await tokensOf(api, account.email);
  const reason = 'The invoice of October is not paid.';
  const sealed = await api.vault.seal(account.id, reason);
  await suspendAccount(api, account.id, sealed, api.context());
  const signIn = { email: account.email, password: PASSWORD };
  await api.call('POST', `${BASE}/auth/jwt/create/`, { body: signIn });
  for (const what of ['refresh', 'revoke']) {
    await api.call('POST', `${BASE}/auth/jwt/${what}/`, { body: { refresh } });
  }
  return account;
}

/** A mail that waits, one that was sent, and one that was refused. */
async function someMails(api: Api, headers: Readonly<Record<string, string>>): Promise<void> {
  await switchMail(api, true);
  await invite(api, headers, 'waits@example.com', 'member');
  for (const [n, failure] of [undefined, 'refused' as const].entries()) {
    const mailId = `mail_${'0'.repeat(25)}${n}`;
    const of = { mailId, kind: 'new_sign_in', personId: `person_${'0'.repeat(26)}` } as const;
    const at = api.clock.now();
    const tried = { attempt: 1, since: at, jitter: 0, at, ...optional('failure', failure) };
    const command = { type: 'RecordAttempt', ...of, ...tried } as const;
    await api.actors.send(mailAggregate, mailId, command, api.context());
  }
}

/** What operators do, to an account of their making. */
async function driveOperators(t: Test, given: Answered) {
  const api = await startApi(t, { env: { PLANS: '{"pro": {"credits_monthly": 5000}}' } });
  const operator = await newOperator(api);
  const email = 'opened@example.com';
  const opened = await operator.call('POST', '/accounts/', { body: { email } });
  await recordTimestamp(api, Buffer.from('made up'));
  const signature = Buffer.alloc(72);
  signature.writeBigUInt64BE(1_795_000_000n);
  await recordCosignature(api, () =>
    signatureLine('witness.example.com/w1', '01234567', signature),
  );
  const { id, key, email: customer } = await api.newAccount();
  await someMails(api, await bearerOf(api, customer));
  const request = async () => {
    const { body } = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
    return String(body['id']);
  };
  const failed = await request();
  await api.fail(id, failed, 'x');
  const unfinished = await request();
  await operator.call('POST', `/accounts/${id}/hold/`, { body: {} });
  for (const each of [failed, unfinished]) {
    await api.call('DELETE', `${BASE}/conversions/${each}/`, { key });
  }
  await request();
  await api.complete(id, await request(), PDF);
  const counted = [
    '/activity/?step=10',
    '/activity/?step=2',
    '/failures/groups/',
    '/failures/?code=x',
  ];
  for (const path of ['/status/', '/failures/', '/projections/', '/checkpoints/', ...counted])
    await operator.call('GET', path);
  await operator.call('POST', '/projections/rebuild/');
  await operator.call('GET', '/projections/');
  while (api.operations.rebuilds.state().underWay) await new Promise(setImmediate);
  await operator.call('GET', '/projections/');
  const at = `/accounts/${String(opened.body['id'])}`;
  await operator.call('POST', `${at}/plan/`, { body: { plan: 'pro' } });
  await operator.call('POST', `${at}/credits/`, { body: { amount: 1 } });
  for (const path of ['/accounts/', `${at}/`]) await operator.call('GET', path);
  await operator.call('POST', `${at}/retention/`, { body: { retention_seconds: 3600 } });
  await operator.call('DELETE', `${at}/retention/`);
  await operator.call('POST', `${at}/hold/`, { body: { until: '2100-01-01T00:00:00Z' } });
  await operator.call('GET', `${at}/`);
  await operator.call('DELETE', `${at}/hold/`);
  await operator.call('DELETE', `${at}/retention/?reason=`);
  await operator.call('DELETE', `${at}/hold/?reason=`);
  await operator.call('POST', `${at}/sessions/end/?reason=`);
  const { keyId } = await api.newAccount();
  await operator.call('DELETE', `/api-keys/${keyId}/?reason=`);
  await operator.call('DELETE', `/api-keys/${keyId}/`);
  await operator.call('GET', `/accounts/${id}/activity/`);
  await operator.call('GET', `/accounts/${id}/activity/?reason=`);
  const reason = 'The invoice of October is not paid.';
  const link = { email, reason, password: PASSWORD };
  const made = await operator.call('POST', '/reset-links/', { body: link });
  const unknown = { ...link, email: 'nobody@example.com' };
  await operator.call('POST', '/reset-links/', { body: unknown });
  await setUpAuthenticator(api, await operatorHeaders(api, customer));
  const lost = { ...link, email: customer };
  for (const body of [{}, lost, lost]) {
    await operator.call('POST', '/second-factors/remove/', { body });
  }
  const { email: former } = await api.newAccount();
  const moved = { ...link, email: former, new_email: 'moved@example.com' };
  for (const body of [{}, unknown, moved]) {
    await operator.call('POST', '/addresses/prove/', { body });
  }
  await operator.call('POST', '/sign-ups/', { body: { email } });
  await api.call('POST', `${BASE}/sign-up/`, { body: { email } });
  await api.call('GET', `${BASE}/sign-up/x/`);
  await api.call('POST', `${BASE}/sign-up/x/accept/`, { body: { password: PASSWORD } });
  const [, token] = String(made.body['link']).split('#');
  for (const password of ['too short', PASSWORD, PASSWORD]) {
    await api.call('POST', `${BASE}/auth/password/reset/`, { body: { token, password } });
  }
  await operator.call('POST', `${at}/suspend/`, { body: { reason } });
  await operator.call('GET', `${at}/`);
  await operator.call('POST', `${at}/resume/`, { body: {} });
  await operator.call('POST', `${at}/sessions/end/`);
  await operator.call('POST', `${at}/erase/`, { body: { email, password: PASSWORD } });
  given.add(api);
}

/** More requests than a minute allows. */
async function driveLimits(t: Test, given: Answered) {
  const env = { RATE_LIMIT_FREE: '1', RATE_LIMIT_ANONYMOUS: '1', RATE_LIMIT_DASHBOARD: '1' };
  const api = await startApi(t, { env });
  const { key, email } = await api.newAccount({ plan: 'free' });
  const headers = await signedIn(api, email);
  await api.call('GET', `${BASE}/account/`, { key });
  await api.call('GET', SESSION, { headers });
  for (const { method, path, operation, secured, needsSession, body } of drives(api.document)) {
    if (operation.responses[429]) {
      const credential = needsSession ? { headers } : secured ? { key } : { headers: ownPage() };
      await api.call(method, path, { ...optional('body', body), ...credential });
    }
  }
  await api.call('GET', '/nowhere', { key: 'pk_live_' });
  given.add(api, (name) => name.includes(' 429 '));
}

/** Parts that fail: 500 and 503. */
async function driveFailures(t: Test, given: Answered) {
  let failure: Error = new TypeError('a mistake');
  const failing = () => Promise.reject(failure);
  const api = await startApi(t, {
    env: SIGN_UP,
    replace: ({ actors }) => ({
      actors: Object.assign(Object.create(actors) as ActorSystem, { read: failing, send: failing }),
      store: { head: failing },
      readiness: failing,
      identityProvider: { label: 'x', begin: failing, finish: failing, look: failing },
      tokens: {
        issue: failing,
        verify: () => Promise.resolve({ accountId: 'acct_x', sessionId: 'sess_x' }),
      },
    }),
  });
  const { key } = await api.newAccount();
  for (const next of [failure, new EventStoreUnavailable('away')]) {
    failure = next;
    for (const { method, path, operation, secured, needsSession, body } of drives(api.document)) {
      if (!operation.responses[500]) continue;
      const token = api.fileTokens.mint(/conv_\w+/.exec(path)?.[0] ?? '', 60);
      const headers = {
        ...ownPage('__Host-pressledger=x'),
        ...(needsSession && { Authorization: 'Bearer x' }),
      };
      const credential = secured && !needsSession ? { key } : { headers };
      await api.call(method, `${path}?token=${token}`, {
        ...credential,
        ...optional('body', body),
      });
    }
    await api.call('GET', '/nowhere', { key });
  }
  given.add(api);
}

async function driveUnready(t: Test, given: Answered) {
  const missing = ['the renderer is starting'];
  const api = await startApi(t, {
    replace: () => ({ readiness: () => ({ ready: false, missing, leads: false }) }),
  });
  await api.call('GET', '/readyz');
  given.add(api);
}

/** What never reaches the application. A slow request is given 10 seconds. */
async function driveTheWire(t: Test, api: Api, given: Answered) {
  const port = Number(new URL(api.origin).port);
  const starting = await listen({
    host: '127.0.0.1',
    port: 0,
    rateLimitHeaders: api.rateLimitHeaders,
  });
  t.teardown(() => starting.close());
  const early = await fetch(`http://127.0.0.1:${starting.port}/not-routed`);
  const { status, headers } = early;
  const answers = [
    { status, headers, text: await early.text() },
    partsOf(await rawHttp(port, 'nonsense\r\n\r\n')),
    partsOf(await rawHttp(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n')),
  ];
  for (const answer of answers) api.observe({ method: 'GET', path: '/not-routed', ...answer });
  given.add(api);
}

/** Has the service give each answer that it documents. @returns the JSON bodies, by the names of the answers */
export async function everyAnswer(t: Test, api: Api): Promise<Answered['bodies']> {
  const given = new Answered();
  await Promise.all([
    driveTheWire(t, api, given),
    (async () => {
      await driveRefusals(t, given);
      await driveSuccesses(t, given);
      await driveOperators(t, given);
      await driveLimits(t, given);
      await driveStatements(t, given);
      await driveFailures(t, given);
      await driveUnready(t, given);
    })(),
  ]);
  return given.bodies;
}
