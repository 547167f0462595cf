/** A small web server of pages to convert. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface Page {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

/** Serves the pages by their paths on loopback until the test ends; gives the origin. */
export async function servePages(t: Test, pages: Readonly<Record<string, Page>>): Promise<string> {
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''] ?? { status: 404, body: '<p>no such page</p>' };
    response.writeHead(page.status ?? 200, { 'Content-Type': page.type ?? 'text/html' });
    response.end(page.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
