/** Reads the values of flags of `convert`, where they are more than text. */
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { Format } from '../domain/choices.ts';
import { UsageError } from './command.ts';

export function numberOf(value: string, name: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) {
    throw new UsageError(`--${name} must be a number.`);
  }
  return number;
}

export function jsonOf(value: string, name: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new UsageError(`--${name} must be JSON.`);
  }
}

/** @throws {UsageError} */
export function viewportOf(value: string, name: string): unknown {
  const [, width, height, scale] = /^(\d+)x(\d+)(?:@(\d+(?:\.\d+)?))?$/i.exec(value) ?? [];
  if (width === undefined || height === undefined) {
    throw new UsageError(`--${name} must be width x height in pixels, such as 1280x720.`);
  }
  return {
    width: Number(width),
    height: Number(height),
    ...(scale !== undefined && { device_scale_factor: Number(scale) }),
  };
}

/** @throws {UsageError} */
export function fieldOf(value: string, name: string): unknown {
  const [x, y, width, height, ...more] = value.split(',').map((length) => length.trim());
  if (height === undefined || more.length > 0) {
    throw new UsageError(`--${name} must be x,y,width,height, such as 120mm,250mm,70mm,25mm.`);
  }
  return { x, y, width, height };
}

/** @throws {UsageError} */
export function tagsOf(given: readonly string[]): Readonly<Record<string, string>> {
  const tags = new Map<string, string>();
  for (const each of given) {
    const colon = each.indexOf(':');
    if (colon < 1 || colon === each.length - 1) {
      throw new UsageError(
        `--tag must be name:value, such as "customer:Example Ltd", not ${each}.`,
      );
    }
    const name = each.slice(0, colon);
    if (tags.has(name)) throw new UsageError(`--tag gives ${name} two values. Give it one.`);
    tags.set(name, each.slice(colon + 1));
  }
  return Object.fromEntries(tags);
}

export function contentOf(
  path: string,
  name: string,
  encoding: 'base64' | 'utf8' = 'base64',
): string {
  try {
    return readFileSync(path, encoding);
  } catch (cause) {
    throw new UsageError(`--${name}: the file ${path} cannot be read.`, { cause });
  }
}

/** Media types of files that people attach, by the end of their names. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.xml': 'text/xml',
  '.zip': 'application/zip',
};

export const attachmentIn = (path: string) => ({
  filename: basename(path),
  content: contentOf(path, 'attach'),
  type: MEDIA_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream',
});

const PICTURES: Readonly<Record<string, Format>> = {
  '.png': 'png',
  '.jpg': 'jpeg',
  '.jpeg': 'jpeg',
  '.webp': 'webp',
};

/** The format of a picture, by the name of its file; undefined for any other. */
export const formatOf = (path: string): Format | undefined => PICTURES[extname(path).toLowerCase()];
