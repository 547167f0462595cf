/** A receiver of webhooks in a process of its own, so that its processor time is not counted. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let count = 0;
/** Asked for by the parent process, which is told when so many have come. */
let wanted = Infinity;
const tell = (): void => {
  if (count < wanted) return;
  wanted = Infinity;
  process.send?.({ count });
};
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    count += 1;
    response.writeHead(204).end();
    tell();
  });
}).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', (asked: number) => {
  wanted = asked;
  tell();
});
