import { type Command, counted } from './command.ts';

export const projectionsRebuild: Command = {
  name: 'projections rebuild',
  usage: '',
  summary: 'Rebuild all read models from the event log, even beside a running service.',
  examples: ['projections rebuild'],
  positionals: {},
  options: {},
  run: async (_, { withCore, output }) => {
    await withCore(async (core) => {
      const { events, seconds } = await core.rebuildReadModel(({ done, total, perSecond }) => {
        const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
        output.progress(
          `${done} of ${counted(total, 'event')} (${percent} %), ${Math.round(perSecond)} a second`,
        );
      });
      output.json({ events, seconds: Math.round(seconds * 1000) / 1000 });
      output.line(
        `Rebuilt from ${counted(events, 'event')} in ${Math.max(seconds, 0.1).toFixed(1)} s.`,
      );
    });
  },
};
