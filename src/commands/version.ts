import { readVersion } from '../config/version.ts';
import type { Run } from './command.ts';

export const version: Run = async (_, { output }) => {
  const number = readVersion();
  output.json({ name: 'pressledger', version: number });
  output.line(`pressledger ${number}`);
};
