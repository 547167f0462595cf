/** `keyring rewrap`: another master key for the keyring of the settings. */
import { copyableCommand } from '../config/copyable-command.ts';
import { type Run } from './command.ts';
import { counted } from '../domain/counted.ts';
import { countOn } from './output.ts';

export const keyringRewrap: Run = async (_, { open, output }) => {
  await open.withKeyringChange(async ({ rewrap, dataDir, masterKeyFile }) => {
    const keys = await rewrap(countOn(output, 'key'));
    output.json({ keys, master_key_file: masterKeyFile ?? null });
    output.line(`${counted(keys, 'key')} wrapped with the new master key.`);
    output.note(
      masterKeyFile === undefined
        ? 'Set MASTER_KEY to the new one on every API node, start them, and destroy the old one.'
        : `The new master key is in ${masterKeyFile}: keep a copy of it in another place, and destroy copies of the old one.`,
    );
    output.note(
      `Older copies of the keyring open with the old master key: replace them (${copyableCommand(dataDir, 'backup', 'keyring', 'FILE')}) and destroy them.`,
    );
    output.note(
      `The log's signing keys stay those that follow from the old one until you rotate twice: ${copyableCommand(dataDir, 'tlog', 'rotate')}`,
    );
  });
};
