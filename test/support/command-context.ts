import type { CommandContext, Opener } from '../../src/commands/command.ts';
import { createOutput } from '../../src/commands/output.ts';
import * as real from '../../src/service/for-commands.ts';

function unneeded(): never {
  throw new Error('the store would be opened now');
}

/** Opens nothing but by these functions. */
export const opener = (parts: Partial<Opener> = {}): Opener => ({
  ...real,
  ...Object.fromEntries(Object.keys(real).map((name) => [name, unneeded])),
  ...parts,
});

/** The surroundings of a command that gets as far as it can without a store. */
export function commandContext(parts: Partial<CommandContext> = {}): CommandContext {
  return {
    output: createOutput(true),
    open: opener(),
    client: { server: undefined, apiKey: undefined, loginFile: '/nonexistent/login.json' },
    outputMode: 0o600,
    ...parts,
  };
}
