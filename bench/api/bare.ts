/** The yardstick: Koa and its router, one route for each path, nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { cpuMicros, type Question } from './messages.ts';

function serve(routes: Readonly<Record<string, unknown>>): void {
  const router = new Router();
  router.get('/api/v1/conversions/:id/', (ctx) => {
    ctx.body = routes[ctx.path];
  });
  const app = new Koa();
  app.use(router.routes());
  const callback = app.callback();
  const server = createServer((request, response) => void callback(request, response));
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port });
  });
}

process.on('message', (question: Question) => {
  if (question.type === 'report') process.send?.({ cpuMicros: cpuMicros(), commits: 0 });
  else if ('routes' in question) serve(question.routes);
});
process.on('disconnect', () => process.exit());
