import type { CommandContext } from '../../src/commands/command.ts';
import { createOutput } from '../../src/commands/output.ts';

function unneeded(): never {
  throw new Error('the store would be opened now');
}

/** The surroundings of a command that gets as far as it can without a store. */
export function commandContext(parts: Partial<CommandContext> = {}): CommandContext {
  return {
    output: createOutput(true),
    withCore: unneeded,
    withOperator: unneeded,
    withStoredLog: unneeded,
    withEventStore: unneeded,
    withStatus: unneeded,
    withBackupPlace: unneeded,
    withKeyring: unneeded,
    withKeyringChange: unneeded,
    keyOpener: () => undefined,
    recordBackup: unneeded,
    restorePlace: unneeded,
    writeSecret: unneeded,
    examine: unneeded,
    withMove: unneeded,
    startService: unneeded,
    startApiNode: unneeded,
    startRenderer: unneeded,
    client: { server: undefined, apiKey: undefined, loginFile: '/nonexistent/login.json' },
    outputMode: 0o600,
    ...parts,
  };
}
