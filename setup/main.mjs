/**
 * Sets a clone up: `node setup/main.mjs [start|test|check]`. Plain JavaScript without
 * dependencies, for Node 20 or later. What is there already is not touched.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringNode, isTooOld } from './node.mjs';
import { bringPackages } from './npm.mjs';
import { SetupError, say } from './progress.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const script = fileURLToPath(import.meta.url);

/** @param {string} purpose */
async function setUp(purpose) {
  if (isTooOld(process.versions.node)) {
    const node = await bringNode(join(root, 'setup', 'node'));
    return spawnSync(node, [script, purpose], { stdio: 'inherit' }).status ?? 1;
  }
  await bringPackages('dependencies', root, { dev: purpose !== 'start' });
  if (purpose !== 'check') {
    const { bringChrome } = await import('./chrome.mjs');
    await bringChrome(root);
  }
  if (purpose === 'test') {
    const { bringTestPrograms } = await import('./test-programs.mjs');
    await bringTestPrograms(root);
    const tools = join(root, 'test', 'openapi-tools');
    await bringPackages('tools for the OpenAPI document', tools, { dev: false });
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
