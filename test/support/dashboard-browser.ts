/** The dashboard of a real service, in the Chrome that is installed. */
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Result } from 'axe-core';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { findChrome } from '../../src/renderer/browser/find.ts';
import { cliJson } from './cli.ts';
import { type Service, startService } from './service.ts';

/** Kept after a run, for people who look at the pages. */
const ARTIFACTS = process.env['TEST_ARTIFACTS'] ?? 'test-artifacts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const ACTION_MS = 60_000;
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
interface Look {
  readonly scheme: 'light' | 'dark';
  readonly size: typeof WIDE;
}

/** Both schemes and both sizes, once each. */
const TWO_LOOKS: readonly Look[] = [
  { scheme: 'light', size: WIDE },
  { scheme: 'dark', size: NARROW },
];
const ALL_LOOKS: readonly Look[] = [
  ...TWO_LOOKS,
  { scheme: 'light', size: NARROW },
  { scheme: 'dark', size: WIDE },
];

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface OpenBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors that a page threw or the console showed, such as what its policy refused. */
  readonly complaints: readonly string[];
}

export interface DashboardBrowser extends OpenBrowser {
  readonly service: Service;
  /** The first account of the service. */
  readonly account: Credentials;
}

/** Opens a Chrome in which nobody is signed in yet. @param baseURL the origin of a service */
export async function openBrowser(t: Test, baseURL: string): Promise<OpenBrowser> {
  const { path: executablePath } = await findChrome({
    chromePath: process.env['CHROME_PATH'],
    searchPath: process.env['PATH'],
  });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  const context = await browser.newContext({ baseURL, timezoneId: 'Europe/Berlin' });
  const complaints: string[] = [];
  context.on('console', (message) => {
    // An answer that is an error is shown to the person by the page.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.setDefaultTimeout(ACTION_MS);
  const page = await context.newPage();
  await page.setViewportSize(WIDE);
  return { context, page, complaints };
}

/** Starts a service and opens a Chrome, in which nobody is signed in yet. */
export async function startDashboard(
  t: Test,
  env: Readonly<Record<string, string>> = {},
): Promise<DashboardBrowser> {
  const service = await startService(t, env);
  return { service, account: service.firstStart, ...(await openBrowser(t, service.url)) };
}

/** Sets another password for the first account, as it must have before it acts as an operator. */
export async function withNewPassword(started: DashboardBrowser): Promise<DashboardBrowser> {
  const { service, account } = started;
  const { password } = (await cliJson(service.place, ['account', 'password', account.email])) as {
    password: string;
  };
  return { ...started, account: { ...account, password } };
}

/** Opens a page as somebody who is not signed in, and signs in on the way to it. */
export async function signIn(page: Page, { email, password }: Credentials, path = '/') {
  await page.goto(path);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(({ pathname }) => pathname !== '/sign-in');
}

/** Drops files of this machine on a text as the file manager does. */
export async function dropFiles(page: Page, text: string, paths: readonly string[]): Promise<void> {
  const place = page.getByText(text);
  await place.scrollIntoViewIfNeeded();
  const { x, y } = (await place.boundingBox()) ?? { x: 0, y: 0 };
  const devTools = await page.context().newCDPSession(page);
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devTools.send('Input.dispatchDragEvent', { type, x, y, data });
  }
}

/** The violations that axe finds on the page as it stands: one line each. */
async function axe(page: Page): Promise<readonly string[]> {
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) {
    await page.evaluate(await readFile(AXE, 'utf8'));
  }
  // React Aria says there for some seconds what has happened, also of buttons that are gone by then.
  const context = JSON.stringify({ exclude: '[data-live-announcer]' });
  const options = JSON.stringify({
    runOnly: { type: 'tag', values: AXE_TAGS },
    resultTypes: ['violations'],
  });
  const violations = await page.evaluate<readonly Result[]>(
    `axe.run(${context}, ${options}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  );
}

async function screenshot(page: Page, name: string): Promise<void> {
  const folder = join(ARTIFACTS, 'dashboard');
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/**
 * Shows what is open in these looks, and keeps a screenshot of each; it ends light and wide.
 * @returns what axe finds in any of them, and that the page is wider than the screen
 */
async function inspect(
  page: Page,
  name: string,
  looks: readonly Look[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { scheme, size } of looks) {
    const look = `${name}-${scheme}-${size.width}`;
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(size);
    await page.evaluate('scrollTo(0, 0)');
    await screenshot(page, look);
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (overflow > 0) found.push(`${look}: the page is ${overflow} px wider than the screen`);
    found.push(...(await axe(page)).map((violation) => `${look}: ${violation}`));
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize(WIDE);
  return found;
}

/** Inspects a page in light and dark, wide and narrow. */
export const inspectPage = (page: Page, name: string): Promise<readonly string[]> =>
  inspect(page, name, ALL_LOOKS);

/** Inspects a page that was inspected before, in another state: with a dialog, empty, or with an error. */
export const inspectState = (page: Page, name: string): Promise<readonly string[]> =>
  inspect(page, name, TWO_LOOKS);

/** The text of the sample in the language, as soon as it is of what the form holds. */
export async function sample(page: Page, language: string): Promise<string> {
  const tab = page.getByRole('tab', { name: language, exact: true });
  await tab.click();
  const made = page.locator('[aria-busy="false"]', { has: tab });
  return await made.getByRole('tabpanel', { name: language }).locator('pre').innerText();
}
