/** A picture of a whole page, as a screen shows it. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { DEFAULT_VIEWPORT, type PrintOptions } from '../../domain/event-fields.ts';
import { PageFailure } from '../browser/failure.ts';
import type { PdfFile } from '../../pdf/finish.ts';
import type { Page } from './page.ts';

/** The most pixels of one side: no picture in WebP has more than 16,383. */
const MAX_SIDE = 16_000;
/** The most of all: Chrome holds four bytes of each, and sends the picture in one message. */
const MAX_PIXELS = 25_000_000;
/** In percent, of what loses some. */
const QUALITY = 90;

type Picture = Exclude<PrintOptions['format'], 'pdf'>;

/**
 * Takes the picture of a page that has settled, and writes it to a file that is not there yet.
 * @throws {PageFailure} `too_large`
 */
export async function savePicture(
  { tab }: Page,
  format: Picture,
  { viewport = DEFAULT_VIEWPORT }: PrintOptions,
  path: string,
): Promise<PdfFile> {
  // Fonts that it was drawn with are not known: a document that follows could find them.
  tab.markTainted();
  const { cssContentSize } = await tab.send('Page.getLayoutMetrics', undefined);
  const width = Math.max(1, Math.ceil(cssContentSize.width));
  const height = Math.max(1, Math.ceil(cssContentSize.height));
  const sides = [width, height].map((side) => Math.ceil(side * viewport.device_scale_factor));
  const [across = 0, down = 0] = sides;
  if (Math.max(across, down) > MAX_SIDE || across * down > MAX_PIXELS) {
    throw new PageFailure(
      'too_large',
      `The picture of the page would have ${across} × ${down} pixels. It may have at most ${MAX_SIDE} on a side, and ` +
        `${MAX_PIXELS} in all. Ask for a smaller viewport or device_scale_factor, hide parts by css, or print a PDF.`,
    );
  }
  const taking = tab.send('Page.captureScreenshot', {
    format,
    ...(format !== 'png' && { quality: QUALITY }),
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height, scale: 1 },
  });
  const { data } = await tab.frames.during(taking);
  const content = Buffer.from(data, 'base64');
  await writeFile(path, content, { flag: 'wx', mode: 0o600 });
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path, sha256, bytes: content.length, pages: 1, fonts: [] };
}
