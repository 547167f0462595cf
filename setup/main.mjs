/**
 * Sets a clone up: `node setup/main.mjs [start|setup|test|long|interop|build|check|crash]`. Plain JavaScript without
 * dependencies, for Node 20 or later. What is there already is not touched.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringDashboard } from './dashboard.mjs';
import { bringNode, isTooOld } from './node.mjs';
import { forgetNotBrought } from './not-brought.mjs';
import { bringPackages, refuseIncomplete } from './npm.mjs';
import { SetupError, say } from './progress.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const script = fileURLToPath(import.meta.url);

/** @param {string} purpose @param {boolean} dev */
async function bringService(purpose, dev) {
  await bringPackages('dependencies', root, { dev });
  if (purpose !== 'build' && purpose !== 'check') {
    const { bringChrome } = await import('./chrome.mjs');
    await bringChrome(root);
    const { bringQpdf } = await import('./qpdf.mjs');
    await bringQpdf(root);
  }
}

/** @param {string} purpose @param {boolean} dev */
async function bringPages(purpose, dev) {
  if (purpose === 'check') {
    await bringPackages('packages of the dashboard', join(root, 'dashboard'), { dev });
    return;
  }
  try {
    await bringDashboard(root, { dev });
  } catch (error) {
    if (dev || !(error instanceof SetupError)) throw error;
    say(`${error.message}\nThe service starts without its pages; the next start tries again.`);
  }
}

/** @param {string} purpose */
async function setUp(purpose) {
  if (isTooOld(process.versions.node)) {
    const node = await bringNode(join(root, 'setup', 'node'));
    return spawnSync(node, [script, purpose], { stdio: 'inherit' }).status ?? 1;
  }
  if (purpose === 'crash') return refuseIncomplete(root);
  if (purpose !== 'start') forgetNotBrought(root);
  const dev = purpose !== 'start' && purpose !== 'setup';
  await Promise.all([bringService(purpose, dev), bringPages(purpose, dev)]);
  if (purpose === 'test' || purpose === 'long' || purpose === 'interop') {
    const { bringTestPrograms } = await import('./test-programs.mjs');
    await bringTestPrograms(root, purpose);
    if (purpose === 'long') await bringTestPrograms(root, 'test');
  }
  if (purpose === 'long') {
    const downloader = join(root, 'setup', 'headless-shell');
    await bringPackages('what downloads a headless shell', downloader, { dev: false });
  }
  if (purpose === 'interop') {
    const tools = join(root, 'test', 'openapi-tools');
    await bringPackages('tools for the OpenAPI document', tools, { dev: false });
    const { bringPythonPackages } = await import('./python.mjs');
    await bringPythonPackages(join(root, 'test', 'webhook-tools'), 'checks of webhooks by Python');
    const { bringJavaPackages } = await import('./maven.mjs');
    const pdfTools = join(root, 'test', 'pdf-tools');
    await bringJavaPackages(join(pdfTools, 'verapdf'), 'checks of PDFs by veraPDF');
    await bringJavaPackages(join(pdfTools, 'mustang'), 'checks of electronic invoices by Mustang');
  }
  return 0;
}

try {
  process.exitCode = await setUp(process.argv[2] ?? 'start');
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
