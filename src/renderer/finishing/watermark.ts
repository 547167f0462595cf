/** What is made with a test key shows that it is a test: on each page, or all over a picture. */
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { PrintOptions } from '../../domain/event-fields.ts';
import type { RenderResult, RenderTask } from '../messages.ts';
import { STAMP_OPTIONS } from './stamps.ts';

/**
 * Prints a document beside that of the request, such as a stamp. It rejects where the conversion ends with that.
 * @param end ends it before its time; otherwise only the end of the conversion does
 */
export type PrintBeside = (
  what: string,
  html: string,
  options: PrintOptions,
  end?: AbortSignal,
) => Promise<{ readonly pdf: Uint8Array; readonly pages: number }>;

/** Lines that can be read on any ground, and leave what lies below readable. */
const MARK =
  'font:bold 20px sans-serif;text-anchor:middle;fill:none;stroke:#d03030;stroke-width:.6';

/** Over the whole page, whatever its size: qpdf fits this page into each other. */
const WATERMARK_PAGE =
  '<!doctype html><style>html,body{margin:0;height:100%}svg{display:block;width:100%;height:100%}</style>' +
  `<svg viewBox="0 0 210 297"><g transform="rotate(-55 105 148)" style="${MARK}">` +
  '<text x="105" y="122" style="font-size:48px">TEST</text>' +
  '<text x="105" y="153" style="font-size:14px;stroke-width:.35">made with a test key</text>' +
  '<text x="105" y="207" style="font-size:48px">TEST</text></g></svg>';

/** The mark again and again, with the lines of the page's. */
const TILE = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160"><g transform="rotate(-30 120 80)" ' +
    `style="${MARK}"><text x="120" y="82" style="font-size:40px;stroke-width:1.2">TEST</text>` +
    '<text x="120" y="104" style="font-size:13px;stroke-width:.6">made with a test key</text></g></svg>',
);

/** Pixel by pixel: the page is as large as its picture. */
const PICTURE_OPTIONS: PrintOptions = {
  ...STAMP_OPTIONS,
  viewport: { width: 1, height: 1, device_scale_factor: 1 },
};

/** The page of a picture (PNG) with the watermark over it. */
const markedPicturePage = (picture: Buffer): string =>
  '<!doctype html><style>html,body{margin:0}body{position:relative;width:max-content}' +
  `i{position:absolute;inset:0;background:url("data:image/svg+xml,${TILE.replaceAll("'", '%27')}")}` +
  `img{display:block}</style><img decoding=sync src="data:image/png;base64,${picture.toString('base64')}"><i></i>`;

/**
 * Prints a document with the watermark laid over all pages. Of a picture, takes another one with the watermark on it. No
 * script of the page sees either.
 */
export async function renderTest(
  task: RenderTask,
  printBeside: PrintBeside,
  renderPage: (
    task: RenderTask,
    beside: { readonly watermark?: Uint8Array },
  ) => Promise<RenderResult>,
): Promise<RenderResult> {
  const what = 'watermark of a test';
  const { format } = task.options;
  if (format === 'pdf') {
    const { pdf: watermark } = await printBeside(what, WATERMARK_PAGE, STAMP_OPTIONS);
    return await renderPage(task, { watermark });
  }
  const taken = await renderPage({ ...task, options: { ...task.options, format: 'png' } }, {});
  if (taken.kind !== 'completed') return taken;
  const picture = await readFile(task.outputPath);
  await rm(task.outputPath);
  const marked = await printBeside(what, markedPicturePage(picture), {
    ...PICTURE_OPTIONS,
    format,
  });
  await writeFile(task.outputPath, marked.pdf, { flag: 'wx', mode: 0o600 });
  const sha256 = createHash('sha256').update(marked.pdf).digest('hex');
  return { ...taken, sha256, bytes: marked.pdf.length };
}
