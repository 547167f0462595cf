/** `format`: a picture of the whole page. */
import { readFile, rm } from 'node:fs/promises';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const SCREEN = { format: 'png', media: 'screen' } as const;
const HTML = `<!doctype html><style>body { margin: 0 } #a { height: 100vh; background: #ff0000 } #b { height: 3000px; background: #0000ff }
  @media print { body { display: none } } @media (prefers-color-scheme: dark) { #b { background: #00ff00 } }</style><div id=a></div><div id=b></div>`;

/** Reads the picture as a browser would: an <img> of it in a page, whose PDF says what it is. */
async function picture(html: string, options: Partial<PrintOptions>) {
  const result = await renderer.render({ html }, { ...SCREEN, ...options });
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  const bytes = await readFile(result.path);
  await rm(result.path);
  const type = options.format ?? 'png';
  const look = `<p id=p>?</p><script>
    const image = new Image();
    image.src = 'data:image/${type};base64,${bytes.toString('base64')}';
    image.decode().then(() => {
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      const at = (y) => [...canvas.getImageData(5, y, 1, 1).data].slice(0, 3).map((each) => Math.round(each / 16)).join();
      p.textContent = [image.width, image.height, at(5), at(image.height - 5)].join(' ');
      p.className = 'done';
    });
  </script>`;
  const seen = await renderer.pdf({ html: look, wait_for: { selector: '.done' } });
  return { result, bytes, seen: seen.text };
}

void test('all of the page, in each format', async (t) => {
  const beginnings = { png: '89504e47', jpeg: 'ffd8ff', webp: '52494646' };
  for (const [format, beginning] of Object.entries(beginnings)) {
    const { result, bytes, seen } = await picture(HTML, { format: format as 'png' });
    t.ok(bytes.toString('hex').startsWith(beginning), format);
    t.equal(seen, '800 3600 16,0,0 0,0,16', format);
    t.match(result, { pages: 1, bytes: bytes.length });
  }
  const viewport = { width: 400, height: 300, device_scale_factor: 2 };
  const dark = await picture(HTML, { viewport, color_scheme: 'dark' });
  t.equal(dark.seen, '800 6600 16,0,0 0,16,0', 'in the window and the colours asked for');
});

void test('a picture that would be too large fails, and the next document is as always', async (t) => {
  const render = async (html: string, options: Partial<PrintOptions>) =>
    await renderer.render({ html }, { ...SCREEN, ...options }, undefined, accountId(3));
  const tall = await render('<div style="height: 20000px">x', {});
  t.match(tall, { kind: 'failed', code: 'too_large', message: /800 × 20\d{3} pixels/ });
  const wide = await render('<div style="width: 9000px; height: 9000px">x', {});
  t.match(wide, { kind: 'failed', code: 'too_large' });
  t.equal((await renderer.pdf({ html: HTML }, { media: 'screen' }, accountId(3))).pages.length, 4);
});
