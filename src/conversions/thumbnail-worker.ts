/** A thread of its own: draws first pages by PDFium, as WebAssembly that sees a PDF and nothing else. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { crc32, deflateSync } from 'node:zlib';
import { init } from '@embedpdf/pdfium';
import { withMemoryOf } from '../limits/wasm-memory.ts';

/** 64 KiB each. */
const MAX_MEMORY_PAGES = 4096;
/** Pixels. People see it about 300 wide; screens often have more pixels than that. */
const WIDTH = 480;
/** Of a longer page the upper part is shown: it is as long as Legal paper. */
const MOST_HEIGHT = Math.round((WIDTH * 14) / 8.5);
const BGR = 2;
const BYTES_PER_PIXEL = 3;
const WHITE = 0xff_ff_ff_ff;
/** With annotations, such as the field of a signature. The rest leaves out smoothing for the colours of one kind of screen. */
const WITH_ANNOTATIONS = 0x01;

const program = readFileSync(
  createRequire(import.meta.url).resolve('@embedpdf/pdfium/pdfium.wasm'),
);
const silent = (): void => {};
const library = await init({
  wasmBinary: withMemoryOf(program, MAX_MEMORY_PAGES).buffer,
  print: silent,
  printErr: silent,
});
library.PDFiumExt_Init();

/** The program's memory, which the types of the package leave out. It is another one once it has grown. */
interface Memory {
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: {
    readonly malloc: (bytes: number) => number;
    readonly free: (at: number) => void;
  };
}
const pdfium = library.pdfium as unknown as Memory;
const { malloc, free } = pdfium.wasmExports;

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Rows from the top, each begins with the number of its filter, which is none; red, green, blue. */
  readonly rows: Buffer;
}

/** What PDFium takes is freed in any case but one: where its memory is full the thread ends. */
function firstPage(pdf: Uint8Array): Picture | undefined {
  const at = malloc(pdf.length);
  if (at === 0) return undefined;
  pdfium.HEAPU8.set(pdf, at);
  const document = library.FPDF_LoadMemDocument(at, pdf.length, '');
  const page = document === 0 ? 0 : library.FPDF_LoadPage(document, 0);
  try {
    return page === 0 ? undefined : drawn(page);
  } finally {
    if (page !== 0) library.FPDF_ClosePage(page);
    if (document !== 0) library.FPDF_CloseDocument(document);
    free(at);
  }
}

function drawn(page: number): Picture | undefined {
  const pageWidth = library.FPDF_GetPageWidthF(page);
  if (!(pageWidth > 0)) return undefined;
  const scale = WIDTH / pageWidth;
  const whole = Math.max(1, Math.round(library.FPDF_GetPageHeightF(page) * scale));
  const height = Math.min(MOST_HEIGHT, whole);
  const bitmap = library.FPDFBitmap_CreateEx(WIDTH, height, BGR, 0, 0);
  if (bitmap === 0) return undefined;
  library.FPDFBitmap_FillRect(bitmap, 0, 0, WIDTH, height, WHITE);
  library.FPDF_RenderPageBitmap(bitmap, page, 0, 0, WIDTH, whole, 0, WITH_ANNOTATIONS);
  const from = library.FPDFBitmap_GetBuffer(bitmap);
  const stride = library.FPDFBitmap_GetStride(bitmap);
  const { HEAPU8: memory } = pdfium;
  const rows = Buffer.alloc((WIDTH * BYTES_PER_PIXEL + 1) * height);
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    to += 1;
    const row = memory.subarray(from + y * stride, from + y * stride + WIDTH * BYTES_PER_PIXEL);
    for (let x = 0; x < row.length; x += BYTES_PER_PIXEL) {
      rows[to + x] = row[x + 2] ?? 0;
      rows[to + x + 1] = row[x + 1] ?? 0;
      rows[to + x + 2] = row[x] ?? 0;
    }
    to += row.length;
  }
  library.FPDFBitmap_Destroy(bitmap);
  return { width: WIDTH, height, rows };
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Eight bits for each of three colours; nothing else is chosen. */
const RGB = [8, 2, 0, 0, 0];

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

function pngOf({ width, height, rows }: Picture): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width);
  size.writeUInt32BE(height, 4);
  const header = Buffer.concat([size, Buffer.from(RGB)]);
  const parts = [
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([PNG_SIGNATURE, ...parts]);
}

export default async function draw(pdf: Uint8Array): Promise<Buffer | undefined> {
  try {
    const picture = firstPage(pdf);
    return picture && pngOf(picture);
  } catch (error) {
    // The program is not to be trusted after it: the thread ends of it, and the task with the thread.
    setImmediate(() => {
      throw error;
    });
    return await new Promise(() => {});
  }
}
