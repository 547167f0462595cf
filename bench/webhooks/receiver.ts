/** A receiver of webhooks in a process of its own, so that its processor time is not counted. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let count = 0;
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    count += 1;
    response.writeHead(204).end();
  });
}).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', () => process.send?.({ count }));
