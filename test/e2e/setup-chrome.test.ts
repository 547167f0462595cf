/** The Chrome that the set-up brings where no headless shell is installed, and none may be. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { type Test, test } from 'tap';
import { forgetNotBrought } from '../../setup/not-brought.mjs';
import { noFullChrome } from '../support/full-chrome.ts';
import { noOwnMounts } from '../support/own-mounts.ts';
import { createPlace, type Place } from '../support/place.ts';
import { installedChrome } from '../support/renderer.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOWNLOADER = 'setup/headless-shell';
const noDownloader: string | false =
  !existsSync(join(ROOT, DOWNLOADER, 'node_modules')) &&
  'what downloads a headless shell is not here: npm run test:all brings it';
const noShell: string | false =
  (process.platform !== 'linux' || process.arch !== 'x64') &&
  'the archive here is for Linux on x64';
const skip = noOwnMounts || noFullChrome || noDownloader || noShell;

// As a user who may install nothing, on a machine that has a full Chrome and no headless shell.
const WITHOUT_SHELL = `set -e
mount --bind /usr/lib/chromium "$HIDDEN"
mount -t tmpfs none /usr/lib/chromium
if [ -e /usr/bin/chromium-headless-shell ]; then mount --bind /dev/null /usr/bin/chromium-headless-shell; fi
if [ -e "$HIDDEN/chromium" ]; then
  printf '#!/bin/sh\\nexec "%s" "$@"\\n' "$HIDDEN/chromium" > /usr/lib/chromium/chromium
  chmod +x /usr/lib/chromium/chromium
fi
exec unshare --user --map-user=1000 --map-group=1000 "$@"`;

/** Where the folder of the installed Chromes is in that machine. */
const hiddenIn = ({ dataDir }: Place): string => join(dirname(dataDir), 'hidden');

/** @returns its folder */
function makeClone(place: Place): string {
  const clone = dirname(place.dataDir);
  for (const folder of ['setup/chrome', DOWNLOADER]) {
    for (const file of ['package.json', 'package-lock.json']) {
      cpSync(join(ROOT, folder, file), join(clone, folder, file));
    }
  }
  cpSync(join(ROOT, DOWNLOADER, 'download.mjs'), join(clone, DOWNLOADER, 'download.mjs'));
  symlinkSync(join(ROOT, DOWNLOADER, 'node_modules'), join(clone, DOWNLOADER, 'node_modules'));
  cpSync(join(ROOT, 'package-lock.json'), join(clone, 'package-lock.json'));
  mkdirSync(place.tmpDir, { recursive: true });
  mkdirSync(hiddenIn(place));
  return clone;
}

/** @returns what the set-up says of Chrome in a clone */
async function bringChrome(place: Place, mirror: string, clone: string) {
  const script = `import { bringChrome } from ${JSON.stringify(join(ROOT, 'setup/chrome.mjs'))};
    try { await bringChrome(${JSON.stringify(clone)}); }
    catch (error) { process.stderr.write(error.message); process.exitCode = 1; }`;
  const command = ['--map-root-user', '--mount', 'sh', '-c', WITHOUT_SHELL, 'sh'];
  const node = [process.execPath, '--input-type=module', '--eval', script];
  const { CHROME_PATH: _, ...env } = place.env;
  const child = spawn('unshare', [...command, ...node], {
    env: {
      ...env,
      HIDDEN: hiddenIn(place),
      CHROME_FOR_TESTING_URL: mirror,
      // Nothing but the mirror can be reached.
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_cache: join(clone, 'npm'),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  return { said, code };
}

/** A mirror of Chrome for Testing with one version, whose shell is a script that becomes the installed one. */
async function startMirror(
  t: Test,
  place: Place,
  status = 200,
): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const path = await installedChrome();
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (url === '/last-known-good-versions.json') {
      response.end('{"channels":{"Stable":{"version":"156.0.8078.108"}}}');
      return;
    }
    const starter = `#!/bin/sh\nexec '${join(hiddenIn(place), basename(path))}' "$@"\n`;
    const name = 'chrome-headless-shell-linux64/chrome-headless-shell';
    const archive = zipSync({ [name]: [Buffer.from(starter), { os: 3, attrs: 0o755 << 16 }] });
    response.writeHead(status);
    response.end(status === 200 ? archive : undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

void test('a headless shell is downloaded beside a full Chrome', { skip }, async (t) => {
  const place = createPlace(t);
  const { origin, asked } = await startMirror(t, place);
  const clone = makeClone(place);
  const { said, code } = await bringChrome(place, origin, clone);
  t.equal(code, 0, said);
  t.strictSame(asked, [
    '/last-known-good-versions.json',
    '/156.0.8078.108/linux64/chrome-headless-shell-linux64.zip',
  ]);
  const path = readFileSync(join(clone, 'setup/chrome/executable'), 'utf8').trim();
  t.ok(path.startsWith(join(clone, DOWNLOADER, 'unpacked')), path);
  t.match(said, `prints (${path})`);
  t.notMatch(said, 'full Chrome');
});

void test('a full Chrome is the last resort, and said to cost more', { skip }, async (t) => {
  const place = createPlace(t);
  const { origin, asked } = await startMirror(t, place, 404);
  const clone = makeClone(place);
  const { said, code } = await bringChrome(place, origin, clone);
  t.equal(code, 0, said);
  t.match(said, /no headless shell can be downloaded: .*404/);
  t.match(said, /prints \(\/usr\/lib\/chromium\/chromium\)/);
  t.match(said, /It is a full Chrome, which takes about 290 MB more memory/);
  const before = asked.length;
  const again = await bringChrome(place, origin, clone);
  t.equal(again.code, 0, again.said);
  t.equal(asked.length, before, 'the next start waits for no network');
  t.match(again.said, /It is a full Chrome, .* npm run setup tries again to bring one/);
  t.notMatch(again.said, '…', 'nor for anything else');
  forgetNotBrought(clone);
  await bringChrome(place, origin, clone);
  t.ok(asked.length > before, 'the set-up tries again');
});
