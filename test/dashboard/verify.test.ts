/** A person drops PDFs and bundles of evidence on the page Verify. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';
import type { Page, Request } from 'playwright-core';
import { type Test, test } from 'tap';
import type { PdfOptions } from '../../client/src/conversion-options.ts';
import { BASE } from '../support/api.ts';
import {
  type DashboardBrowser,
  dropFiles,
  inspectPage,
  inspectState,
  openBrowser,
  signIn,
  startDashboard,
} from '../support/dashboard-browser.ts';
import { testDirectory } from '../support/directory.ts';
import { changed } from '../support/evidence.ts';
import { openPdf } from '../support/pdf.ts';

const OUTCOME = 'Everything that was checked holds';

/** A PDF that the service has made, and the bundle of its evidence. */
async function madeFiles({ service }: DashboardBrowser, pdfOptions: PdfOptions = {}) {
  const request = { html: '<h1>Receipt 4711</h1>', pdf: pdfOptions };
  const pdf = Buffer.from(await service.client().convert(request));
  const headers = { 'X-API-Key': service.firstStart.apiKey };
  const sha256 = createHash('sha256').update(pdf).digest('hex');
  const answer = await fetch(`${service.url}${BASE}/verify/`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ sha256 }),
  });
  const { conversion } = (await answer.json()) as { conversion: { id: string } };
  const evidence = `${service.url}${BASE}/conversions/${conversion.id}/evidence/`;
  const bundle = await buffer(
    (await fetch(evidence, { headers })).body as ReadableStream<Uint8Array>,
  );
  return { id: conversion.id, sha256, pdf, bundle };
}

/** Keeps the bodies that the page sends: Chrome's network log lacks those of `Request` objects. */
const RECORD_BODIES = `
  globalThis.bodiesSent = [];
  const send = globalThis.fetch;
  globalThis.fetch = async (request, ...more) => {
    const body = request instanceof Request ? await request.clone().text() : more[0]?.body;
    if (body) globalThis.bodiesSent.push(body);
    return send(request, ...more);
  };`;

/** Makes the browser one of those that came before Ed25519. */
const WITHOUT_ED25519 = `
  const generateKey = SubtleCrypto.prototype.generateKey;
  SubtleCrypto.prototype.generateKey = function (algorithm, ...more) {
    if (algorithm !== 'Ed25519') return generateKey.call(this, algorithm, ...more);
    return Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError'));
  };`;

/** Chooses a file as a person does in the browser's dialog. */
async function choose(page: Page, name: string, content: Buffer): Promise<void> {
  const mimeType = name.endsWith('.pdf') ? 'application/pdf' : 'application/zip';
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType, buffer: content });
  await page.getByRole('heading', { level: 2, name }).waitFor();
}

const held = (page: Page) => page.locator('li[data-look="holds"], li[data-look="noted"]').count();

/** The words of the step that does not hold. */
async function failure(page: Page): Promise<string> {
  await page.getByText('This does not hold.').waitFor();
  return await page.locator('li[data-look="fails"]').innerText();
}

void test('a stranger verifies a PDF, and is told who made it', async (whole: Test) => {
  const dashboard = await startDashboard(whole, { PUBLIC_VERIFY: 'true' });
  const { service, account } = dashboard;
  const files = await madeFiles(dashboard, { verify_link: true });
  const { pdf, bundle, sha256, id } = files;
  const [first] = (await openPdf(pdf)).pages;
  const link = first?.urls[0] ?? '';
  const { page, context, complaints } = await openBrowser(whole, service.url);
  const sent: Request[] = [];

  await whole.test('the page, without signing in', async (t) => {
    // As the link in the PDF leads.
    t.equal(link, `${service.url}/verify`);
    await page.goto(link);
    await page.getByRole('heading', { level: 1, name: 'Verify' }).waitFor();
    t.strictSame(await inspectPage(page, 'verify-public'), []);
    page.on('request', (request) => sent.push(request));
  });

  await whole.test('a PDF of an account without a name', async (t) => {
    await choose(page, 'receipt.pdf', pdf);
    await page.getByText(OUTCOME).waitFor();
    await page.getByText('The account has given no name.').waitFor();
    t.equal(await held(page), 5);
    t.strictSame(await inspectState(page, 'verify-public-known'), []);
    await page.setViewportSize({ width: 320, height: 640 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    await page.setViewportSize({ width: 1280, height: 900 });
    t.equal(await page.getByText(id).count(), 0, 'no id of the account’s');
  });

  await whole.test('a PDF that was altered, and a bundle', async (t) => {
    await choose(page, 'altered.pdf', Buffer.concat([pdf, Buffer.from('\n')]));
    await page.getByText('This service does not know this file.').waitFor();
    t.strictSame(await inspectState(page, 'verify-public-unknown'), []);
    await choose(page, 'evidence.zip', bundle);
    await page.getByText(OUTCOME).waitFor();
    t.equal(await held(page), 9);
  });

  await whole.test('the hash alone was sent, and nothing that names the sender', async (t) => {
    const posts = sent.filter((request) => request.method() === 'POST');
    const paths = posts.map((request) => new URL(request.url()).pathname);
    t.strictSame(paths, ['/verify/public', '/verify/public']);
    t.equal(posts[0]?.postData(), JSON.stringify({ sha256 }));
    for (const request of posts) {
      const names = Object.keys(await request.allHeaders());
      t.notOk(names.includes('cookie') || names.includes('authorization'));
    }
    t.strictSame(await context.cookies(), []);
  });

  await whole.test('the account sets its name, and a stranger is told it', async (t) => {
    await signIn(dashboard.page, account);
    await dashboard.page.goto('/account');
    await dashboard.page.getByLabel('New public name').fill('Ada’s Bakery');
    await dashboard.page.getByRole('button', { name: 'Set the name' }).click();
    await dashboard.page.locator('dd', { hasText: 'Ada’s Bakery' }).waitFor();
    t.strictSame(await inspectState(dashboard.page, 'account-public-name'), []);
    await page.reload();
    await choose(page, 'receipt.pdf', pdf);
    await page.getByText('The account calls itself so.').waitFor();
    t.equal(await page.locator('bdi').innerText(), 'Ada’s Bakery');
    await page.getByText(OUTCOME).waitFor();
    t.strictSame(await inspectState(page, 'verify-public-named'), []);
  });

  await whole.test(
    'a deployment that does not offer it says so, and is sent nothing',
    async (t) => {
      await page.route('**/dashboard/offers', (route) =>
        route.fulfill({ json: { public_verify: false } }),
      );
      await page.reload();
      const words = page.getByText('PDFs are checked only for people with an account.');
      await words.waitFor();
      t.strictSame(await inspectState(page, 'verify-public-not-offered'), []);
      const before = sent.length;
      await choose(page, 'receipt.pdf', pdf);
      await words.waitFor();
      t.notOk(sent.slice(before).some((request) => request.method() === 'POST'));
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('Email').fill(account.email);
      await page.getByLabel('Password').fill(account.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      t.equal(new URL(page.url()).pathname, '/verify', 'and comes back');
    },
  );
  whole.strictSame([...complaints, ...dashboard.complaints], []);
});

void test('a PDF and a bundle are verified in the browser', async (whole: Test) => {
  const dashboard = await startDashboard(whole);
  const { page, account } = dashboard;
  const { id, sha256, pdf, bundle } = await madeFiles(dashboard);
  const sent: Request[] = [];
  await signIn(page, account);
  await page.goto('/verify');
  await page.getByRole('heading', { level: 1, name: 'Verify' }).waitFor();
  whole.strictSame(await inspectPage(page, 'verify'), []);
  await page.evaluate(RECORD_BODIES);
  page.on('request', (request) => sent.push(request));

  await whole.test('a PDF that is dropped', async (t) => {
    const path = join(testDirectory(t), 'receipt.pdf');
    writeFileSync(path, pdf);
    await dropFiles(page, 'Drop a PDF or a bundle of evidence here', [path]);
    await page.getByRole('heading', { level: 2, name: basename(path) }).waitFor();
    await page.getByText(OUTCOME).waitFor();
    t.equal(await page.locator('figure pre').first().innerText(), sha256);
    t.equal(await held(page), 5);
    t.equal(await page.getByText('Nothing to compare with').count(), 2, 'at a first visit');
    const link = page.getByRole('link', { name: id });
    t.equal(await link.getAttribute('href'), `/conversions/${id}`);
    t.strictSame(await inspectState(page, 'verify-pdf'), []);
  });

  await whole.test('a PDF that was altered, cut, or made by others', async (t) => {
    const altered = Buffer.from(pdf);
    altered[100] = (altered[100] ?? 0) ^ 1;
    for (const [name, content] of [
      ['altered.pdf', altered],
      ['cut.pdf', pdf.subarray(0, -1)],
    ] as const) {
      await choose(page, name, content);
      await page.getByText('No conversion of this account made this file.').waitFor();
      t.equal(await page.getByText(OUTCOME).count(), 0, name);
    }
    t.strictSame(await inspectState(page, 'verify-pdf-unknown'), []);
    await choose(page, 'empty.pdf', Buffer.alloc(0));
    await page.getByText('This file is empty.').waitFor();
    await choose(page, 'letter.pdf', Buffer.from('a letter'));
    await page.getByText('This file is neither a PDF nor a bundle').waitFor();
  });

  await whole.test('a bundle', async (t) => {
    await choose(page, 'evidence.zip', bundle);
    await page.getByText(OUTCOME).waitFor();
    t.equal(await held(page), 9);
    t.equal(await page.getByText('Nothing to compare with').count(), 0, 'it was kept before');
    const shown = page.getByRole('table', { name: 'Events of the conversion' });
    t.match(await shown.innerText(), /CreditDebited[^]*ConversionCompleted/);
    await page.getByText('README.txt, report.html').waitFor();
    t.strictSame(await inspectState(page, 'verify-bundle'), []);
  });

  await whole.test('a bundle that was altered, cut, or packed again', async (t) => {
    const other = await changed(bundle, { 'document.pdf': '%PDF-1.7 another' });
    await choose(page, 'altered.zip', other);
    t.match(await failure(page), /A file in the bundle is not the one[^]*document\.pdf: SHA-256/);
    t.strictSame(await inspectState(page, 'verify-bundle-altered'), []);
    t.equal(await page.getByText('What the bundle shows').count(), 0);
    await choose(page, 'cut.zip', bundle.subarray(0, -100));
    t.match(await failure(page), /not a whole bundle/);
  });

  await whole.test('a browser that kept another state of the log', async (t) => {
    const rewritten = `
      const kept = JSON.parse(localStorage.getItem('pressledger.checkpoint'));
      localStorage.setItem('pressledger.checkpoint', JSON.stringify({ ...kept, size: 2 }));`;
    await page.evaluate(rewritten);
    await choose(page, 'receipt-again.pdf', pdf);
    t.match(await failure(page), /events were changed or removed/);
    t.strictSame(await inspectState(page, 'verify-rewritten'), []);
    await page.getByRole('button', { name: 'Forget what was kept, and check again' }).click();
    await page.getByText(OUTCOME).waitFor();
  });

  await whole.test('nothing but the hash was sent', async (t) => {
    const bodies = await page.evaluate<string[]>('globalThis.bodiesSent');
    const posts = sent.filter((request) => request.method() !== 'GET');
    t.equal(bodies.length, posts.length);
    t.equal(posts.length, 4, 'once for each PDF');
    for (const body of bodies) t.match(body, /^\{"sha256":"[0-9a-f]{64}"\}$/);
    const asked = sent.map((request) => new URL(request.url()).pathname);
    const allowed =
      /^\/(assets\/|tlog\/(key|checkpoint|consistency)$|api\/v1\/verify\/$|dashboard\/session$)/;
    t.strictSame(
      asked.filter((path) => !allowed.test(path) && !path.startsWith('/api/v1/account')),
      [],
    );
  });

  await whole.test('a browser that cannot check signatures says which ones can', async (t) => {
    const other = await dashboard.context.newPage();
    await other.addInitScript(WITHOUT_ED25519);
    await other.goto('/verify');
    for (const [name, content] of [
      ['receipt.pdf', pdf],
      ['evidence.zip', bundle],
    ] as const) {
      await choose(other, name, content);
      const problem = other.getByRole('alert').filter({ hasText: 'could not be finished' });
      t.match(await problem.innerText(), /cannot check Ed25519 signatures\. Chrome and Edge can/);
      t.equal(await held(other), 0, name);
      t.equal(await other.getByText(OUTCOME).count(), 0, name);
    }
    t.strictSame(await inspectState(other, 'verify-no-ed25519'), []);
    await other.close();
  });
  whole.strictSame(dashboard.complaints, []);
});
