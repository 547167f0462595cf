/** A small web server on loopback: pages with style sheet, script and pictures of their own. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brandedInvoice } from './documents.ts';
import { photograph } from './pictures.ts';

export interface Site {
  readonly port: number;
  /** The address of a page: an invoice whose parts are files. */
  pageUrl(number: number): string;
  /** An address at which this HTML is answered from now on. */
  publish(html: string): string;
  close(): Promise<void>;
}

interface File {
  readonly type: string;
  readonly content: Buffer;
}

const PICTURES = 4;
const html = (text: string): File => ({
  type: 'text/html; charset=utf-8',
  content: Buffer.from(text),
});

const SCRIPT = `
  const total = [...document.querySelectorAll('tbody tr')]
    .reduce((sum, row) => sum + Number(row.cells[5].textContent), 0);
  document.querySelector('table').insertAdjacentHTML('afterend', '<p>Total ' + total.toFixed(2) + '</p>');`;

/** Takes the style sheet out of a document, and adds a script and pictures as files. */
function withFiles(document: string): { readonly page: string; readonly style: string } {
  const [, before = '', style = '', after = ''] =
    /^(.*)<style>(.*)<\/style>(.*)$/s.exec(document) ?? [];
  const pictures = Array.from(
    { length: PICTURES },
    (_, each) => `<img src="/picture-${each}.png" width="150" alt="">`,
  );
  const scripts = '<script src="/total.js"></script>';
  const body = after.replace('</body>', `<p>${pictures.join('')}</p>${scripts}</body>`);
  return { page: `${before}<link rel="stylesheet" href="/style.css">${body}`, style };
}

export async function startSite(): Promise<Site> {
  const published = new Map<string, File>([
    ['/style.css', { type: 'text/css', content: Buffer.from(withFiles(brandedInvoice(0)).style) }],
    ['/total.js', { type: 'text/javascript', content: Buffer.from(SCRIPT) }],
  ]);
  for (let each = 0; each < PICTURES; each += 1) {
    published.set(`/picture-${each}.png`, { type: 'image/png', content: photograph(each) });
  }
  const server = createServer(({ url = '' }, response) => {
    const invoice = /^\/invoice\/(\d+)$/.exec(url)?.[1];
    const file = invoice
      ? html(withFiles(brandedInvoice(Number(invoice))).page)
      : published.get(url);
    if (file) response.writeHead(200, { 'Content-Type': file.type }).end(file.content);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    port,
    pageUrl: (number) => `${origin}/invoice/${number}`,
    publish: (text) => {
      const path = `/document/${published.size}`;
      published.set(path, html(text));
      return origin + path;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
