import type { Command } from './command.ts';
import { shutdownSignals } from './start.ts';

export const renderer: Command = {
  name: 'renderer',
  usage: '',
  summary: 'Run a renderer node, which takes jobs from NATS_URL.',
  role: 'renderer',
  examples: ['renderer'],
  positionals: {},
  options: {},
  run: async (_, { startRenderer, output }) => {
    const { stop, hurry } = shutdownSignals();
    const node = await startRenderer();
    try {
      output.json({ health_url: node.healthUrl });
      output.line(`Pressledger's renderer is ready; its health is at ${node.healthUrl}/readyz`);
      await stop;
    } finally {
      await node.stop(hurry);
    }
  },
};
