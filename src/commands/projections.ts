import type { Command } from './command.ts';

export const projectionsRebuild: Command = {
  name: 'projections rebuild',
  usage: '',
  summary: 'Build all read models anew from the log, also beside a service.',
  positionals: {},
  options: {},
  run: async (_, { withCore, output }) => {
    await withCore(async (core) => {
      const result = await core.rebuildReadModel(({ done, total, perSecond }) => {
        const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
        output.progress(
          `${done} of ${total} events (${percent} %), ${Math.round(perSecond)} a second`,
        );
      });
      output.json(result);
      output.line(`Rebuilt from ${result.events} events in ${result.seconds.toFixed(1)} s.`);
    });
  },
};
