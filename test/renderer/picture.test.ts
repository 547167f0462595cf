/** The picture of a page that fails: which failures have one, what it shows, and that none takes long. */
import tap, { test } from 'tap';
import { decryptBlob } from '../../src/documents/decryption.ts';
import { BlobStoreUnavailable } from '../../src/documents/port.ts';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { MAX_PICTURE_BYTES } from '../../src/render-queue/messages.ts';
import { servePages } from '../support/pages.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { startNode } from '../support/renderer-node.ts';
import { CONTENT_KEY } from '../support/samples.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

const RED = '<body style="background:#f00"><h1>Hello</h1>';
const never = { selector: '#never' };

/** What Chrome sees in a picture: its size, and the colour at its lower edge. */
async function seenIn(picture: Uint8Array): Promise<string> {
  const source = `data:image/jpeg;base64,${Buffer.from(picture).toString('base64')}`;
  const html = `<p></p><img src="${source}"><script>
    const image = document.querySelector('img');
    image.decode().then(() => {
      const canvas = document.createElement('canvas');
      const { naturalWidth: width, naturalHeight: height } = image;
      Object.assign(canvas, { width, height });
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const [r, g, b] = context.getImageData(width - 5, height - 5, 1, 1).data;
      const colour = r > 240 && g < 15 && b < 15 ? 'red' : [r, g, b].join('/');
      document.querySelector('p').textContent = width + 'x' + height + ' ' + colour;
      image.remove();
      document.body.id = 'seen';
    });
  </script>`;
  const pdf = await renderer.pdf({ html, wait_for: { selector: '#seen' } });
  return pdf.pages.map(({ text }) => text.trim()).join();
}

interface Case {
  readonly request: RequestDocument;
  readonly code: string;
  readonly options?: Partial<PrintOptions>;
  readonly ms?: number;
}

const TRIES = 8;

void test('a page that fails is pictured as it is shown, unless there is none', async (t) => {
  const html = { type: 'text/html', body: RED };
  const origin = await servePages(t, { '/missing': { ...html, status: 404 } });
  const script = (text: string) => ({ html: `${RED}<script>${text}</script>` });
  const pictured: readonly Case[] = [
    { request: { html: RED, wait_for: never }, code: 'selector_missing', ms: 2_000 },
    { request: { html: RED }, code: 'page_range', options: { page_ranges: '9' } },
    {
      request: { ...script('console.error(1)'), fail_on: ['console_error'] },
      code: 'incomplete',
    },
    { request: { url: `${origin}/missing` }, code: 'page_status' },
  ];
  for (const { request, code, options, ms } of pictured) {
    let picture: Buffer | Uint8Array | undefined;
    // The cap is half a second: on a busy machine a page may have no picture.
    for (let n = 0; n < TRIES && picture === undefined; n += 1) {
      const result = await renderer.render(request, options, ms);
      t.match(result, { kind: 'failed', code });
      picture = result.kind === 'failed' ? result.picture : undefined;
    }
    t.equal(picture && (await seenIn(picture)), '800x600 red', code);
    t.ok(picture && picture.length < 20_000, code);
  }
  const none: readonly Case[] = [
    { request: { url: 'http://127.0.0.1:9/' }, code: 'navigation_failed' },
    { request: script('for (;;);'), code: 'timeout', ms: 1_500 },
  ];
  for (const { request, code, ms = 20_000 } of none) {
    const begun = performance.now();
    t.match(await renderer.render(request, {}, ms), { kind: 'failed', code, picture: undefined });
    t.ok(performance.now() - begun < ms + 10_000, 'soon after the limit');
  }
});

void test('a renderer stores the picture encrypted, and reports a failure also without it', async (t) => {
  const { offer, ended, blobs } = await startNode(t, { timeoutMs: 3_000 });
  const failed = async (html = RED) => {
    const report = await ended(await offer({ html, wait_for: never }));
    if (report.kind !== 'failed') throw new Error('It did not fail.');
    return report;
  };
  const pictured = async () => {
    for (let n = 0; n < TRIES; n += 1) {
      const { picture } = await failed();
      if (picture) return picture;
    }
    return undefined;
  };
  const picture = await pictured();
  const stored = picture && (await blobs.read(picture));
  t.notOk(stored?.includes('JFIF'));
  t.equal(stored && (await seenIn(decryptBlob(CONTENT_KEY, picture, stored))), '800x600 red');

  const noise = `<canvas width=1600 height=1200 style="position:fixed;inset:0"></canvas><script>
    const context = document.querySelector('canvas').getContext('2d');
    const image = context.createImageData(1600, 1200);
    for (let i = 0; i < image.data.length; i += 1) image.data[i] = i % 4 === 3 ? 255 : Math.random() * 256;
    context.putImageData(image, 0, 0);
  </script>`;
  t.ok(((await failed(noise)).picture?.bytes ?? 0) <= MAX_PICTURE_BYTES, 'of a page of noise');

  const stage = blobs.stage.bind(blobs);
  blobs.stage = (id, kind, content) => {
    const staged = stage(id, kind, content);
    if (kind === 'picture') {
      staged.store = () => Promise.reject(new BlobStoreUnavailable('It is away.'));
    }
    return staged;
  };
  t.match(await failed(), { code: 'selector_missing', picture: undefined });
  const off = await startNode(t, { timeoutMs: 3_000, pictures: false });
  const report = await off.ended(await off.offer({ html: RED, wait_for: never }));
  t.match(report, { code: 'selector_missing', picture: undefined });
});
