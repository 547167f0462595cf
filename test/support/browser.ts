import puppeteer from 'puppeteer';
import type { Test } from 'tap';
import { findChrome } from '../../src/renderer/browser/find.ts';
import { testDirectory } from './directory.ts';

/** Opens a page in a Chrome of its own, and keeps what it asks for and complains of. */
export async function openPage(t: Test) {
  const { path: executablePath } = await findChrome({
    chromePath: process.env['CHROME_PATH'],
    searchPath: process.env['PATH'],
  });
  const browser = await puppeteer.launch({
    executablePath,
    headless: 'shell',
    args: ['--no-sandbox'],
    userDataDir: testDirectory(t),
  });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  await page.setViewport({ width: 1400, height: 1000 });
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
  });
  return { page, complaints, origins };
}
