/** The service with a full Chrome, where no headless shell can be had: it prints what the shell prints. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Test, test } from 'tap';
import type { PressledgerClient } from '../../client/src/client.ts';
import type { RenderManifest } from '../../src/domain/render-manifest.ts';
import { fullChrome, noFullChrome } from '../support/full-chrome.ts';
import { noOwnMounts } from '../support/own-mounts.ts';
import { openPdf } from '../support/pdf.ts';
import { createPlace, LAUNCHER, type Place } from '../support/place.ts';
import { descendants } from '../support/processes.ts';
import { Service } from '../support/service.ts';

const USERS = {
  root: { as: ['--map-root-user'], sandboxed: false },
  'an ordinary user': { as: ['--map-user=1000', '--map-group=1000'], sandboxed: true },
};
const PICTURE = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const ICON_AND_PICTURE = '<link rel=icon href=/icon.png><p>Served<img src=/picture.gif>';
const WINDOW =
  '[innerWidth, innerHeight, screenX, screenY, screen.width, screen.height, devicePixelRatio]';

/** @returns the origin of a site whose page `/crash` has `crash` called while it is loading */
async function startSite(t: Test, crash: () => void): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    if (url.endsWith('.gif')) return response.end(Buffer.from(PICTURE, 'base64'));
    if (url === '/crash') crash();
    const title = url === '/titled' ? '<title>Report (2)</title>' : '';
    response.setHeader('Content-Type', 'text/html');
    return response.end(title + ICON_AND_PICTURE);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The files in the place of a service that are not in its own folders. */
function filesElsewhere({ dataDir, tmpDir }: Place): readonly string[] {
  return readdirSync(dirname(dataDir), { recursive: true, withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map((each) => join(each.parentPath, each.name))
    .filter((path) => !path.startsWith(dataDir) && !path.startsWith(tmpDir));
}

for (const [user, { as, sandboxed }] of Object.entries(USERS)) {
  void test(`as ${user}`, { skip: noFullChrome || noOwnMounts }, async (t) => {
    const place = createPlace(t, {
      CHROME_PATH: fullChrome ?? '',
      ALLOW_PRIVATE_NETWORK: 'true',
      RATE_LIMIT_PRO: '100000',
    });
    const service = new Service(place, ['unshare', '--user', ...as, LAUNCHER, 'start']);
    t.teardown(() => service.kill());
    const origin = await startSite(t, () => {
      for (const { pid, commandLine } of descendants(service.pid)) {
        if (commandLine.includes('--type=renderer')) process.kill(pid, 'SIGSEGV');
      }
    });
    await service.start();
    const client = service.client();
    const convert = async (request: Parameters<PressledgerClient['create']>[0]) => {
      const record = await client.wait((await client.create(request)).id);
      t.equal(record.status, 'completed', record.error_message ?? '');
      const bytes = await buffer(await client.download(record));
      const headers = { 'X-API-Key': service.firstStart.apiKey };
      const answer = await fetch(`${service.url}/api/v1/conversions/${record.id}/manifest/`, {
        headers,
      });
      const { chrome, resources } = (await answer.json()) as RenderManifest;
      return { bytes, pdf: await openPdf(bytes), chrome, resources };
    };

    const { pdf: letter, chrome } = await convert({
      html: '<h1>Invoice 4711</h1><script>onload = () => print()</script>',
      header_html: '<span class="title"></span> Top',
      footer_html: '<span class="pageNumber"></span> of <span class="totalPages"></span>',
    });
    t.same(letter.text.split('\n').toSorted(), ['1of1', 'Invoice 4711', 'Top']);
    t.equal(chrome.sandboxed, sandboxed);
    t.notOk('Title' in letter.info, 'not the name of a host that is not there');
    t.equal(letter.info['Creator'], 'Chromium');

    const {
      pdf: secret,
      bytes,
      resources,
    } = await convert({
      url: `${origin}/untitled?token=SECRET`,
    });
    t.match(secret.text, 'Served');
    t.notOk('Title' in secret.info, 'not its address');
    t.notMatch(bytes.toString('latin1'), /SECRET|005300450043/);
    t.strictSame(
      resources.map(({ url }) => url.slice(origin.length)),
      ['/untitled?token=SECRET', '/picture.gif'],
      'the icon is not of the page',
    );
    const { pdf: titled } = await convert({ url: `${origin}/titled` });
    t.equal(titled.info['Title'], 'Report (2)');
    const { pdf: given } = await convert({ url: `${origin}/titled`, metadata: { title: 'Mine' } });
    t.equal(given.info['Title'], 'Mine');

    const { pdf: measured } = await convert({ html: `<script>document.write(${WINDOW})</script>` });
    t.equal(measured.text, '800,600,0,0,800,600,1');

    const row = await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const { pdf } = await convert({ html: `<p>Letter ${number}</p>` });
        return pdf.text;
      }),
    );
    t.strictSame(
      row,
      Array.from(row, (_, number) => `Letter ${number}`),
    );

    const { id } = await client.create({ html: `<p>Private<img src="${origin}/crash">` });
    const crashed = await client.wait(id);
    // In its sandbox a tab is the first process of its namespace, which such a signal does not end.
    if (!sandboxed) t.match(crashed, { status: 'failed', failure_code: 'page_crashed' });
    t.strictSame(filesElsewhere(place), []);
    t.match(await service.stop(), { code: 0, signal: null });
    t.strictSame(await service.leftovers(), []);
  });
}
