/**
 * A page that came as HTML and its files, answered on the page's own host. No network is used: the host means
 * nothing outside of the proxy's session, and the next session has another.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { failure } from '../../egress/errors.ts';
import { type EgressSession, PAGE, type PageFiles } from './session.ts';

/** Media types of a page's own files, by the ends of their names. Chrome finds out those of others. */
const TYPES: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  mjs: 'text/javascript',
  mp4: 'video/mp4',
  otf: 'font/otf',
  png: 'image/png',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  txt: 'text/plain',
  wasm: 'application/wasm',
  webm: 'video/webm',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
  xhtml: 'application/xhtml+xml',
  xml: 'application/xml',
};

function nameOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.slice(1));
  } catch {
    return '';
  }
}

const HTML = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };

/** Answers the address of a window that waits for its page; any other of its host leaves a tab as it is. */
export function answerWindow(response: ServerResponse, { pathname }: URL): void {
  response.writeHead(pathname === '/' ? 200 : 204, HTML).end();
}

/** @throws {EgressError} there is no such file, or it is asked to do more than be read */
export function answerFile(
  { method = 'GET' }: Pick<IncomingMessage, 'method'>,
  response: ServerResponse,
  url: URL,
  files: PageFiles,
  session: EgressSession,
): void {
  const name = nameOf(url);
  const content = files.get(name);
  if (content !== undefined && name === PAGE) {
    response.writeHead(200, { ...HTML, 'Content-Length': content.length });
    response.end(method === 'HEAD' ? undefined : content);
    return;
  }
  if (content === undefined || (method !== 'GET' && method !== 'HEAD')) {
    throw failure('no-such-file');
  }
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? '';
  session.count(content.length, url.href);
  session.received.note({
    url: url.href,
    method,
    status: 200,
    type,
    encoding: undefined,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  });
  response.writeHead(200, {
    ...(type === '' ? {} : { 'Content-Type': type }),
    'Content-Length': content.length,
    'Cache-Control': 'no-store',
  });
  response.end(method === 'HEAD' ? undefined : content);
}
