/** Opens a PDF as its reader would, for tests that look at what a person sees. */
import { readFile } from 'node:fs/promises';
import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';

export interface PdfText {
  readonly text: string;
  /** Points from the left and lower edge of the page to the start of the base line. */
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export interface PdfPage {
  readonly text: string;
  readonly items: readonly PdfText[];
  /** In points. */
  readonly width: number;
  readonly height: number;
  /** Targets of links that lead out of the document. */
  readonly urls: readonly string[];
  /** Every annotation, with or without a target. */
  readonly annotations: number;
  /** Colours that anything is filled with, as `#rrggbb`. */
  readonly fills: ReadonlySet<string>;
}

export interface OpenedPdf {
  readonly pages: readonly PdfPage[];
  readonly text: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly outline: readonly string[];
  /** Whether the first page has a structure that assistive tools can read. */
  readonly tagged: boolean;
  /** Types of the elements in the first page's structure. */
  readonly roles: readonly string[];
}

type Document = Awaited<ReturnType<typeof getDocument>['promise']>;
type Page = Awaited<ReturnType<Document['getPage']>>;

async function readPage(page: Page): Promise<PdfPage> {
  const { width, height } = page.getViewport({ scale: 1 });
  const content = await page.getTextContent();
  const items = content.items.flatMap((item) =>
    'str' in item && item.str.trim() !== ''
      ? [
          {
            text: item.str,
            x: Number(item.transform[4]),
            y: Number(item.transform[5]),
            height: item.height,
          },
        ]
      : [],
  );
  const annotations: Record<string, unknown>[] = await page.getAnnotations();
  const operators = await page.getOperatorList();
  const fills = operators.fnArray.flatMap((operator, index) => {
    const [first]: unknown[] = operators.argsArray[index] ?? [];
    return operator === OPS.setFillRGBColor ? [String(first)] : [];
  });
  return {
    text: content.items
      .map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
      .join(''),
    items,
    width,
    height,
    urls: annotations.flatMap((each) =>
      [each['url'], each['unsafeUrl']].flatMap((url) => (typeof url === 'string' ? [url] : [])),
    ),
    annotations: annotations.length,
    fills: new Set(fills),
  };
}

function rolesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const role = 'role' in node ? [String(node.role)] : [];
  const children: unknown = 'children' in node ? node.children : [];
  return Array.isArray(children) ? [...role, ...children.flatMap(rolesIn)] : role;
}

export async function openPdf(source: string | Uint8Array): Promise<OpenedPdf> {
  const bytes = typeof source === 'string' ? await readFile(source) : source;
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
  try {
    const document = await task.promise;
    const pages: PdfPage[] = [];
    for (let number = 1; number <= document.numPages; number += 1) {
      pages.push(await readPage(await document.getPage(number)));
    }
    const { info } = await document.getMetadata();
    const outline = (await document.getOutline()) ?? [];
    const structure = await (await document.getPage(1)).getStructTree();
    return {
      pages,
      text: pages.map((page) => page.text).join('\n'),
      info: { ...info },
      outline: outline.map((each: { title: string }) => each.title),
      tagged: structure !== null && structure !== undefined,
      roles: rolesIn(structure),
    };
  } finally {
    await task.destroy();
  }
}
