/** PNG files that are drawn from a number: the same bytes on every run. */
import { crc32, deflateSync } from 'node:zlib';

type Pixel = readonly number[];

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The formats whose pixels are red, green and blue, without opacity and with it, eight bits each. */
const FORMATS = { 3: [8, 2, 0, 0, 0], 4: [8, 6, 0, 0, 0] } as const;

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function png(
  width: number,
  height: number,
  channels: keyof typeof FORMATS,
  at: (x: number, y: number) => Pixel,
): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width);
  size.writeUInt32BE(height, 4);
  // Each row begins with its filter: none.
  const row = 1 + width * channels;
  const rows = Buffer.alloc(height * row);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows.set(at(x, y), y * row + 1 + x * channels);
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([size, Buffer.from(FORMATS[channels])])),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A disc and a bar on nothing, as logos are: some 8 kB. */
export function logo(): Buffer {
  return png(240, 120, 4, (x, y) => {
    const opacity = Math.round(255 * Math.min(1, Math.max(0, 55 - Math.hypot(x - 60, y - 60))));
    if (opacity > 0) return [40 + x, 90 + (y >> 2), 210, opacity];
    return x > 130 && y > 40 && y < 80 ? [30, 40, 60, 255] : [0, 0, 0, 0];
  });
}

/** Colours and grain as of a photograph, 300 by 225: some 125 kB. */
export function photograph(seed: number): Buffer {
  let state = seed * 2_654_435_761 + 1;
  return png(300, 225, 3, (x, y) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const grain = state >>> 30;
    const red = 60 + ((x + seed * 31) >> 2) + grain;
    const green = 40 + Math.round(80 * (1 + Math.sin((y + seed * 17) / 40))) + grain;
    return [red & 255, green, 200 - (y >> 2) + grain];
  });
}

export const dataUri = (content: Buffer, type: string): string =>
  `data:${type};base64,${content.toString('base64')}`;
