/**
 * A page that came as HTML and its files, answered on the page's own host. No network is used: the host means
 * nothing outside of the proxy's session, and the next session has another.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { lookup } from 'mime-types';
import { failure } from '../../egress/errors.ts';
import { type EgressSession, PAGE, type PageFiles } from './session.ts';

function nameOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.slice(1));
  } catch {
    return '';
  }
}

/** What pages use. Chrome refuses a style sheet or script of any other type, and finds out the type of one without. */
const OF_PAGES =
  /^(?:(?:image|font)\/.+|video\/(?:mp4|webm)|text\/(?:html|css|javascript|plain|csv)|application\/(?:json|wasm|xml|xhtml\+xml))$/;

/** The media type of a file by its name; empty where the name does not tell one that pages use. */
function typeOf(name: string): string {
  const type = lookup(name) || '';
  return OF_PAGES.test(type) ? type : '';
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
  const type = typeOf(name);
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
