import { readFileSync } from 'node:fs';
import type { Command } from './command.ts';

export const version: Command = {
  name: 'version',
  usage: '',
  summary: 'Show the version.',
  examples: ['version'],
  positionals: {},
  options: {},
  run: async (_, { output }) => {
    const file = new URL('../../package.json', import.meta.url);
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
    output.json({ name: manifest.name, version: manifest.version });
    output.line(`${manifest.name} ${manifest.version}`);
  },
};
