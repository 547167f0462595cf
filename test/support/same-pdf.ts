/** Compares PDFs: by their bytes, or by what a reader sees of them. */
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { openPdf } from './pdf.ts';

/** Pixels for each point. */
const SCALE = 1.5;
const MAX_PAINTED = 15;

/**
 * The bytes of a PDF but for dates and ids, which no two of them have in common. Chrome names table heads by a
 * counter of its process: here they are numbered as they come.
 */
export function comparable(pdf: Buffer): string {
  const nodes = new Map<string, number>();
  return pdf
    .toString('latin1')
    .replaceAll(/\/(Creation|Mod)Date \(D:[^)]*\)|\/ID ?\[[^\]]*\]/g, '')
    .replaceAll(/\(node\d{8}\)/g, (node) => {
      const number = nodes.get(node) ?? nodes.size;
      nodes.set(node, number);
      return `(node ${number})`;
    });
}

interface Painted {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8ClampedArray;
}

type RenderParameters = Parameters<
  Awaited<ReturnType<Awaited<ReturnType<typeof getDocument>['promise']>['getPage']>>['render']
>[0];

interface CanvasFactory {
  create(
    width: number,
    height: number,
  ): {
    readonly canvas: RenderParameters['canvas'];
    readonly context: NonNullable<RenderParameters['canvasContext']>;
  };
}

/** @param scale pixels for each point @returns the first pages */
export async function paint(pdf: Buffer, scale = SCALE): Promise<Painted[]> {
  const task = getDocument({ data: new Uint8Array(pdf), verbosity: 0 });
  try {
    const document = await task.promise;
    const factory = document.canvasFactory as CanvasFactory;
    const painted: Painted[] = [];
    for (let number = 1; number <= Math.min(document.numPages, MAX_PAINTED); number += 1) {
      const page = await document.getPage(number);
      const viewport = page.getViewport({ scale });
      const [width, height] = [Math.ceil(viewport.width), Math.ceil(viewport.height)];
      const { canvas, context } = factory.create(width, height);
      await page.render({ canvas, canvasContext: context, viewport }).promise;
      painted.push({ width, height, pixels: context.getImageData(0, 0, width, height).data });
    }
    return painted;
  } finally {
    await task.destroy();
  }
}

/**
 * Compares the number of pages, their sizes, texts and links, whether they are tagged, the outline, the title,
 * and the first pages as pixels.
 * @returns the first difference, or undefined
 */
export async function visibleDifference(one: Buffer, other: Buffer): Promise<string | undefined> {
  if (comparable(one) === comparable(other)) return undefined;
  const [first, second] = await Promise.all([openPdf(one), openPdf(other)]);
  if (first.pages.length !== second.pages.length) {
    return `${first.pages.length} pages and ${second.pages.length}`;
  }
  for (const [index, page] of first.pages.entries()) {
    const { text, width, height, urls } = page;
    const match = second.pages[index];
    for (const [name, mine, its] of [
      ['text', text, match?.text],
      ['size', `${width} x ${height}`, `${match?.width} x ${match?.height}`],
      ['links', urls.join(' '), match?.urls.join(' ')],
    ]) {
      if (mine !== its) {
        return `${name} of page ${index + 1}: ${JSON.stringify(mine)} and ${JSON.stringify(its)}`;
      }
    }
  }
  if (first.outline.join('\n') !== second.outline.join('\n')) return 'outline';
  if (first.tagged !== second.tagged) return `tagged ${first.tagged} and ${second.tagged}`;
  if (first.info['Title'] !== second.info['Title']) return 'title';
  const [painted, paintedToo] = [await paint(one), await paint(other)];
  for (const [index, page] of painted.entries()) {
    const pixels = paintedToo[index]?.pixels;
    const differing = page.pixels.reduce(
      (sum, value, at) => sum + Number(value !== pixels?.[at]),
      0,
    );
    if (differing > 0) return `${differing} bytes of page ${index + 1} as pixels`;
  }
  return undefined;
}
