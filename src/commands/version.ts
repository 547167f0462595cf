import { readVersion } from '../version.ts';
import type { Command } from './command.ts';

export const version: Command = {
  name: 'version',
  usage: '',
  summary: 'Show the version.',
  examples: ['version'],
  positionals: {},
  options: {},
  run: async (_, { output }) => {
    const number = readVersion();
    output.json({ name: 'pressledger', version: number });
    output.line(`pressledger ${number}`);
  },
};
