/** Images of every format that Chrome shows, as data URIs. */
import { crc32, deflateSync } from 'node:zlib';

type Colour = readonly [red: number, green: number, blue: number];

const uri = (type: string, content: Buffer): string =>
  `data:image/${type};base64,${content.toString('base64')}`;

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), content]);
  const length = Buffer.alloc(4);
  const sum = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** Stripes of a colour and of its opposite. */
export function png(width: number, height: number, [red, green, blue]: Colour): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Array.from({ length: height }, (_, row) => {
    const pixel = row % 8 < 4 ? [red, green, blue] : [255 - red, 255 - green, 255 - blue];
    return Buffer.from([0, ...Array.from({ length: width }, () => pixel).flat()]);
  });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.concat(rows)))];
  return uri('png', Buffer.concat([signature, ...parts, chunk('IEND', Buffer.alloc(0))]));
}

/** One pixel that is shown in each of the colours in turn, for the given hundredths of a second. */
export function gif(
  colours: readonly [Colour, Colour],
  hundredths: number,
  loops: boolean,
): string {
  const [low, high] = [hundredths & 0xff, hundredths >> 8];
  // How long it is shown, where it is, and its only pixel.
  const frame = (code: number): Buffer =>
    Buffer.from([
      0x21,
      0xf9,
      4,
      4,
      low,
      high,
      0,
      0,
      0x2c,
      0,
      0,
      0,
      0,
      1,
      0,
      1,
      0,
      0,
      2,
      2,
      code,
      1,
      0,
    ]);
  const repeat = [0x21, 0xff, 11, ...Buffer.from('NETSCAPE2.0'), 3, 1, 0, 0, 0];
  const screen = [...Buffer.from('GIF89a'), 1, 0, 1, 0, 0x80, 0, 0, ...colours.flat()];
  const frames = [...frame(0x44), ...frame(0x4c)];
  return uri('gif', Buffer.from([...screen, ...(loops ? repeat : []), ...frames, 0x3b]));
}

export function bmp([red, green, blue]: Colour): string {
  const bytes = Buffer.alloc(58);
  bytes.write('BM');
  bytes.writeUInt32LE(58, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(1, 18);
  bytes.writeInt32LE(1, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  bytes.set([blue, green, red], 54);
  return uri('bmp', bytes);
}

/** @param content of the SVG element, 40 units wide and high */
export const svg = (content: string): string =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">${content}</svg>`)}`;

/** A blue box on red, 24 by 16, as an encoder wrote it. */
export const JPEG =
  'data:image/jpeg;base64,' +
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNy' +
  'wtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09P' +
  'T09PT09PT09PT09PT09PT09PT09PT0//wAARCAAQABgDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAgAG/8' +
  'QAGhAAAwEAAwAAAAAAAAAAAAAAAAECEhNiof/EABUBAQEAAAAAAAAAAAAAAAAAAAQF/8QAKBEAAAQDBQkAAAAAAAAA' +
  'AAAAAAEREgQTMQIDFDKBBRUhI0FRYnHB/9oADAMBAAIRAxEAPwDNytUkPh7eAl5pMfN19Ew2GZzq6/Bc2nvOaWDyp4' +
  '1U++gFLNNEVPVNkEvGvNtOgrQ8yVZm5kJfacaD/9k=';
export const WEBP =
  'data:image/webp;base64,' +
  'UklGRrAAAABXRUJQVlA4IKQAAADwBQCdASoYABAAPrVKnkmnJCKhMAgA4BaJbACdMoR4NuA/gFx/84BwAHlD/sl8C3' +
  'kAAoJJE+X+oAD+7aXd/fe4pLDKd8+O47u1EpOaOR3s0eEh0wG+T//ybRi4ChpK6vSUFP8CdRhQ5uUeO14ZuNYKA6/Z' +
  'WzmYXlVcXmb+7Oh5gnv/u2n+wncxm+tpoe4bf/wpr95X+xRc92+t5M2MxP/w/gAAAA==';
export const AVIF =
  'data:image/avif;base64,' +
  'AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAA' +
  'AAAAAAAAAAAGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAACQAAAAoaWlu' +
  'ZgAAAAAAAQAAABppbmZlAgAAAAABAABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAABgAAA' +
  'AQAAAAEHBpeGkAAAAAAwgICAAAAAxhdjFDgSAAAAAAABNjb2xybmNseAABAA0ABoAAAAAXaXBtYQAAAAAAAAABAAEE' +
  'AQKDBAAAACxtZGF0EgAKCDgQ7+wgIaDSMhZFkAAAEBoonmWIoc8Y75Pysv79MUJA';
