/** What a program reads that starts a service with `--json`. */
import { setImmediate } from 'node:timers/promises';
import { test } from 'tap';
import type { FirstAccount } from '../../../src/accounts/accounts.ts';
import { createOutput } from '../../../src/commands/output.ts';
import { renderer, start } from '../../../src/commands/start.ts';
import { commandContext, opener } from '../../support/command-context.ts';

const OWNER = { email: 'admin@localhost', password: 'p', apiKey: 'pk_live_1', credits: 100 };

/** Runs a role that ends by itself as soon as it was ready. */
async function jsonOf(role: 'service' | 'renderer', firstAccount?: FirstAccount) {
  const printed: unknown[] = [];
  const toolbox = commandContext({
    output: { ...createOutput(true), json: (value) => printed.push(value) },
    open: opener({
      startService: async () => ({
        publicUrl: 'http://localhost:8080',
        dataDir: '/data',
        ready: Promise.resolve(firstAccount),
        ended: setImmediate(),
        stop: async () => {},
      }),
      startRenderer: async () => {
        void setImmediate().then(() => process.emit('SIGTERM'));
        return { healthUrl: 'http://127.0.0.1:8081', stop: async () => {} };
      },
    }),
  });
  await (role === 'service' ? start : renderer)({ values: {}, positionals: [] }, toolbox);
  return printed;
}

void test('a service says where it is, and once whose it is', async (t) => {
  const url = 'http://localhost:8080';
  t.strictSame(await jsonOf('service'), [{ url }]);
  const first_account = { email: OWNER.email, password: 'p', api_key: 'pk_live_1' };
  t.strictSame(await jsonOf('service', OWNER), [{ url, first_account }]);
});

void test('a renderer says where its health is', async (t) => {
  t.strictSame(await jsonOf('renderer'), [{ health_url: 'http://127.0.0.1:8081' }]);
});
