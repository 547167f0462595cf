/** A browser that is worn out makes way for the next without anyone waiting for it. */
import { once } from 'node:events';
import { test } from 'tap';
import { BUDGETS } from '../../src/limits/budgets.ts';
import { CommandRefused } from '../../src/renderer/browser/connection.ts';
import { type LaunchedChrome, launchChrome } from '../../src/renderer/browser/launch.ts';
import { Browsers, type TakenTab } from '../../src/renderer/browsers.ts';
import type { TabProxy } from '../../src/renderer/chrome/tab.ts';
import { startEgressProxy } from '../../src/renderer/egress/proxy.ts';
import { testDirectory } from '../support/directory.ts';
import { installedChrome } from '../support/renderer.ts';
import { isAlive } from '../support/renderer-node.ts';

const openProxies = new Set<TabProxy>();
const openProxy = async (): Promise<TabProxy> => {
  const real = await startEgressProxy({ allowPrivateNetwork: false, extraPorts: [] });
  const proxy: TabProxy = {
    ...real,
    close: () => {
      openProxies.delete(proxy);
      return real.close();
    },
  };
  openProxies.add(proxy);
  return proxy;
};

for (const limit of [{ maxAgeMs: 0 }, { maxWarmBytes: 1 }]) {
  const name = Object.keys(limit).join();
  void test(`over ${name} the next browser is warm before this one ends`, async (t) => {
    const path = await installedChrome();
    const directory = testDirectory(t);
    const ended = new EventTarget();
    const launches: string[] = [];
    const browsers = new Browsers({
      launch: () => {
        launches.push(name);
        return launchChrome({ path, directory });
      },
      openProxy,
      onMissing: (error) => t.fail(String(error)),
      onEnded: ({ pid }: LaunchedChrome) => {
        ended.dispatchEvent(new CustomEvent('ended', { detail: pid }));
      },
      maxPageBytes: BUDGETS.maxPageMemoryBytes.default,
      ...limit,
    });
    t.teardown(() => browsers.close());
    const take = () => browsers.take('an account', 'html');
    const release = (taken: TakenTab) => browsers.release(taken, () => false);
    let inHand = await take();
    const { browser: first } = inHand;
    t.ok(first.memory.used() > 10 * 1024 * 1024);
    const ofFirst = [...openProxies];
    t.not(ofFirst.length, 0);
    const over = once(ended, 'ended');
    while (launches.length === 1) {
      t.equal(inHand.browser, first);
      await release(inHand);
      inHand = await take();
    }
    // It is being replaced now, and serves on until the other one is there.
    t.equal(inHand.browser, first);
    let next = first;
    while (next === first) {
      t.ok(first.chrome.connection.isOpen);
      const { tabs } = first;
      await tabs.release(await tabs.take('another account', 'html'), () => false);
      next = await browsers.running();
    }
    t.ok(isAlive(first.chrome.pid), 'not ended under the document that it renders');
    await release(inHand);
    await over;
    t.notOk(isAlive(first.chrome.pid));
    t.notOk(
      ofFirst.some((proxy) => openProxies.has(proxy)),
      'its tabs have no way out any more',
    );
    t.ok(next.chrome.connection.isOpen);
  });
}

void test('a browser that opens no tab is ended', async (t) => {
  const path = await installedChrome();
  const directory = testDirectory(t);
  const pids: number[] = [];
  const ended: number[] = [];
  const browsers = new Browsers({
    launch: async () => {
      const chrome = await launchChrome({ path, directory });
      pids.push(chrome.pid);
      t.teardown(() => chrome.end());
      chrome.connection.send = async () => {
        throw new CommandRefused('There are no tabs.');
      };
      return chrome;
    },
    openProxy,
    onMissing: () => {},
    onEnded: ({ pid }) => void ended.push(pid),
    maxPageBytes: BUDGETS.maxPageMemoryBytes.default,
  });
  await t.rejects(browsers.running(), { message: 'There are no tabs.' });
  t.strictSame([...new Set(ended)], pids);
  t.notOk(isAlive(pids[0] ?? 0));
});

void test('a close also ends the browser that is being started in the place of a worn one', async (t) => {
  const path = await installedChrome();
  const directory = testDirectory(t);
  const [launched, ended] = [new Set<number>(), new Set<number>()];
  const launches: number[] = [];
  const browsers = new Browsers({
    launch: async () => {
      launches.push(launches.length);
      const chrome = await launchChrome({ path, directory });
      launched.add(chrome.pid);
      return chrome;
    },
    openProxy,
    onMissing: (error) => t.fail(String(error)),
    onEnded: ({ pid }) => ended.add(pid),
    maxPageBytes: BUDGETS.maxPageMemoryBytes.default,
    maxWarmBytes: 1,
  });
  while (launches.length < 2) {
    await browsers.release(await browsers.take('an account', 'html'), () => false);
  }
  await browsers.close();
  t.equal(launched.size, 2);
  t.strictSame(ended, launched);
});
