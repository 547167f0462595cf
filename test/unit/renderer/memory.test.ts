/** What counts as the memory of a Chrome. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { usedBytes } from '../../../src/renderer/browser/memory.ts';

const SHARED = '/dev/shm';
const skip = !existsSync(SHARED) && 'this system has no folder in memory';
const PROGRAM = join(import.meta.dirname, '../../support/shared-memory-process.ts');

void test('shared memory of a process counts', { skip }, async (t) => {
  const folder = mkdtempSync(join(SHARED, 'pressledger-'));
  const bytes = 32 * 2 ** 20;
  const child = spawn(process.execPath, [PROGRAM, folder, String(bytes)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  const used = (): number => usedBytes(new Set([child.pid ?? 0]));
  await once(child.stdout, 'data');
  const before = used();
  t.ok(before > 0);
  child.stdin.write('map\n');
  await once(child.stdout, 'data');
  const more = used() - before;
  t.ok(more > bytes * 0.9, `${more} of ${bytes} bytes`);
});
