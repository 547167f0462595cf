/**
 * A colour profile of sRGB, made from the numbers of IEC 61966-2-1 as ICC.1:2001-04 (version 2.4) lays them out: nobody
 * else's file is needed for it.
 */

/** The colorants, adapted to D50. */
const COLORANTS = {
  rXYZ: [0.43607, 0.22249, 0.01392],
  gXYZ: [0.38515, 0.71687, 0.09708],
  bXYZ: [0.14307, 0.06061, 0.7141],
} as const;
const D50 = [0.9642, 1, 0.8249];
/** Media white of a display, as the specification recommends for version 2: that of the profile connection space. */
const WHITE = D50;
const CURVE_POINTS = 1_024;

const linear = (value: number): number =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;

function fixed(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [n, value] of values.entries()) bytes.writeInt32BE(Math.round(value * 65_536), n * 4);
  return bytes;
}

const typed = (type: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${type}\0\0\0\0`, 'latin1'), content]);

function curve(): Buffer {
  const bytes = Buffer.alloc(4 + CURVE_POINTS * 2);
  bytes.writeUInt32BE(CURVE_POINTS, 0);
  for (let n = 0; n < CURVE_POINTS; n += 1) {
    bytes.writeUInt16BE(Math.round(linear(n / (CURVE_POINTS - 1)) * 65_535), 4 + n * 2);
  }
  return typed('curv', bytes);
}

/** A description: ASCII, and an empty one each in Unicode and in a script code. */
function description(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length + 1);
  return typed('desc', Buffer.concat([length, Buffer.from(`${text}\0`), Buffer.alloc(78)]));
}

const padded = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);

function header(size: number): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeUInt32BE(size, 0);
  bytes.writeUInt32BE(0x02400000, 8);
  bytes.write('mntrRGB XYZ ', 12, 'latin1');
  // A fixed day, so that the profile is the same in every document.
  for (const [n, part] of [2026, 1, 1].entries()) bytes.writeUInt16BE(part, 24 + n * 2);
  bytes.write('acsp', 36, 'latin1');
  fixed(D50).copy(bytes, 68);
  return bytes;
}

function made(): Buffer {
  const tone = curve();
  const tags: readonly (readonly [string, Buffer])[] = [
    ['desc', description('sRGB IEC61966-2.1')],
    ['cprt', typed('text', Buffer.from('No copyright, use freely\0'))],
    ['wtpt', typed('XYZ ', fixed(WHITE))],
    ...Object.entries(COLORANTS).map(([tag, xyz]) => [tag, typed('XYZ ', fixed(xyz))] as const),
    ['rTRC', tone],
    ['gTRC', tone],
    ['bTRC', tone],
  ];
  const table = Buffer.alloc(4 + tags.length * 12);
  table.writeUInt32BE(tags.length, 0);
  const places = new Map<Buffer, number>();
  const parts: Buffer[] = [];
  let at = 128 + table.length;
  for (const [n, [tag, content]] of tags.entries()) {
    const place = places.get(content) ?? at;
    if (!places.has(content)) {
      const part = padded(content);
      places.set(content, at);
      parts.push(part);
      at += part.length;
    }
    table.write(tag, 4 + n * 12, 'latin1');
    table.writeUInt32BE(place, 8 + n * 12);
    table.writeUInt32BE(content.length, 12 + n * 12);
  }
  return Buffer.concat([header(at), table, ...parts]);
}

let profile: Buffer | undefined;

/** The profile, made once. */
export function srgbProfile(): Buffer {
  profile ??= made();
  return profile;
}
