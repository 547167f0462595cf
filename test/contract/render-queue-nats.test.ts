import { pino } from 'pino';
import { connectToNats } from '../../src/nats/connection.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { runRenderQueueContract } from './render-queue-contract.ts';

const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));

runRenderQueueContract({
  name: 'NATS',
  open: async (t) => {
    const { url } = await startNatsServer(t);
    const link = await connectToNats(url, { name: 'test', logger });
    t.teardown(() => link.close());
    return await NatsRenderQueue.open({ link, logger, side: 'both' });
  },
});
