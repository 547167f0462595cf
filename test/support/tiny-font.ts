/** TrueType fonts of some kilobytes, made here: every letter is a box, and each font has boxes of its own size. */

/** Units of the em square. */
const EM = 1000;
const FIRST = 0x20;
const LAST = 0x7e;
const COUNT = LAST - FIRST + 2;

export interface BoxSize {
  /** The width of the narrowest letter with its space, of 1000; the widest has half as much again. */
  readonly advance: number;
  /** The height of every box, of 1000. */
  readonly height: number;
}

const u16 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, index * 2);
  return bytes;
};

const u32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
};

/** A contour of four corners. The glyph of a blank has none. */
function box(width: number, height: number): Buffer {
  const inner = width - 80;
  return Buffer.concat([
    u16(1, 40, 0, 40 + inner, height, 3, 0),
    Buffer.from([1, 1, 1, 1]),
    u16(40, 0, inner, 0),
    u16(0, height, 0, -height),
  ]);
}

function glyphs({ advance, height }: BoxSize) {
  const widths = Array.from({ length: COUNT }, (_, glyph) =>
    Math.round(advance * (1 + ((glyph * 7) % 11) / 20)),
  );
  const outlines = widths.map((width, glyph) =>
    glyph === 1 ? Buffer.alloc(0) : box(width, height),
  );
  const offsets = [0];
  for (const outline of outlines) offsets.push((offsets.at(-1) ?? 0) + outline.length / 2);
  return {
    glyf: Buffer.concat(outlines),
    loca: u16(...offsets),
    hmtx: u16(...widths.flatMap((width, glyph) => [width, glyph === 1 ? 0 : 40])),
    widest: Math.max(...widths),
  };
}

/** One segment of characters, and the one that ends the table (format 4). */
const cmap = (): Buffer =>
  Buffer.concat([
    u16(0, 1, 3, 1),
    u32(12),
    u16(4, 32, 0, 4, 4, 1, 0, LAST, 0xffff, 0, FIRST, 0xffff, 1 - FIRST, 1, 0, 0),
  ]);

function names(family: string): Buffer {
  const texts = [family, 'Regular', `${family} Regular`, `${family} Regular`, '1.0', family];
  const ids = [1, 2, 3, 4, 5, 6];
  const stored = texts.map((text) => Buffer.from(text, 'utf16le').swap16());
  let offset = 0;
  const records = stored.map((text, index) => {
    const record = u16(3, 1, 0x409, ids[index] ?? 0, text.length, offset);
    offset += text.length;
    return record;
  });
  return Buffer.concat([u16(0, ids.length, 6 + 12 * ids.length), ...records, ...stored]);
}

function os2(advance: number): Buffer {
  const metrics = u16(3, advance, 400, 5, 0, 600, 600, 0, 75, 600, 600, 0, 350, 50, 300, 0);
  const rest = u16(0x40, FIRST, LAST, 800, -200, 0, 800, 200);
  const [pages, panose] = [u32(0, 0, 0, 0), Buffer.alloc(10)];
  const [codePages, heights] = [u32(1, 0), u16(500, 700, 0, FIRST, 1)];
  return Buffer.concat([metrics, panose, pages, Buffer.from('TEST'), rest, codePages, heights]);
}

function checksum(table: Buffer): number {
  const padded = Buffer.concat([table, Buffer.alloc((4 - (table.length % 4)) % 4)]);
  let sum = 0;
  for (let at = 0; at < padded.length; at += 4) sum = (sum + padded.readUInt32BE(at)) >>> 0;
  return sum;
}

/** A font of the printable ASCII characters. */
function makeFont(family: string, size: BoxSize): Buffer {
  const { glyf, loca, hmtx, widest } = glyphs(size);
  const tables: Record<string, Buffer> = {
    'OS/2': os2(size.advance),
    cmap: cmap(),
    glyf,
    head: Buffer.concat([
      u32(0x10000, 0x10000, 0, 0x5f0f3cf5),
      u16(3, EM),
      u32(0, 0, 0, 0),
      u16(0, 0, widest, size.height, 0, 8, 2, 0, 0),
    ]),
    hhea: u16(1, 0, 800, -200, 0, widest, 0, 0, widest, 1, 0, 0, 0, 0, 0, 0, 0, COUNT),
    hmtx,
    loca,
    maxp: u16(1, 0, COUNT, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0),
    name: names(family),
    post: u32(0x30000, 0, 0xffb50032, 0, 0, 0, 0, 0),
  };
  const entries = Object.entries(tables);
  let offset = 12 + 16 * entries.length;
  const directory: Buffer[] = [];
  const content: Buffer[] = [];
  for (const [tag, table] of entries) {
    directory.push(Buffer.from(tag), u32(checksum(table), offset, table.length));
    const padded = Buffer.concat([table, Buffer.alloc((4 - (table.length % 4)) % 4)]);
    content.push(padded);
    offset += padded.length;
  }
  return Buffer.concat([u32(0x10000), u16(entries.length, 128, 3, 32), ...directory, ...content]);
}

/** The font as a data URI. */
export const fontUri = (family: string, size: BoxSize): string =>
  `data:font/ttf;base64,${makeFont(family, size).toString('base64')}`;
