/** `tlog` and `proof`: the signed side of the event log. */
import { type Command, counted } from './command.ts';
import { isPressledgerError } from './service.ts';

/** The verifier keys in force, the newest first. */
interface LogKeys {
  readonly keys: readonly string[];
}

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

export const tlogKey: Command = {
  name: 'tlog key',
  usage: '',
  summary: "Show the verifier keys of the log's checkpoints, the newest first.",
  examples: ['tlog key > log.key'],
  positionals: {},
  options: {},
  run: async (_, { withOperator, output }) => {
    await withOperator(async (api) => {
      const { keys } = await api.get<LogKeys>('/operator/log-keys/');
      output.json({ keys });
      for (const key of keys) output.line(key);
    });
  },
};

export const tlogCheckpoint: Command = {
  name: 'tlog checkpoint',
  usage: '',
  summary: 'Show a signed checkpoint of the log as it is now.',
  examples: ['tlog checkpoint > today.checkpoint'],
  positionals: {},
  options: {},
  run: async (_, { withOperator, output }) => {
    await withOperator(async (api) => {
      const checkpoint = await api.post<{ readonly note: string }>('/operator/checkpoints/');
      output.json(checkpoint);
      for (const line of linesOf(checkpoint.note)) output.line(line);
    });
  },
};

export const tlogRotate: Command = {
  name: 'tlog rotate',
  usage: '',
  summary: 'Add a signing key: it and the one before sign from now on, older ones do not.',
  examples: ['tlog rotate'],
  positionals: {},
  options: { yes: { help: 'rotate also where the older of two keys goes out of force' } },
  run: async ({ values }, { withOperator, output }) => {
    await withOperator(async (api) => {
      const [, leaving] = (await api.get<LogKeys>('/operator/log-keys/')).keys;
      if (leaving !== undefined && values['yes'] !== true) {
        throw new Error(
          `This key would sign no more: ${leaving}. Whoever knows it alone could not verify later checkpoints. Give --yes when they know the newer one.`,
        );
      }
      const { keys } = await api.post<LogKeys>('/operator/log-keys/');
      output.json({ keys });
      output.line('Checkpoints are signed with these keys from now on, the newest first:');
      for (const key of keys) output.line(key);
    });
  },
};

export const proof: Command = {
  name: 'proof',
  usage: '<id>',
  summary:
    'Prove what the log holds about a conversion; with --json as a document that others can check.',
  examples: ['proof conv_06f3k8r1v2w9x4y5z6a7b8c9d0 --json > proof.json'],
  positionals: { id: "the conversion's id" },
  options: {},
  run: async ({ positionals: [id = ''] }, { withOperator, output }) => {
    await withOperator(async (api) => {
      const proven = await api
        .as()
        .proof(id)
        .catch((error: unknown) => {
          if (!isPressledgerError(error, 'not_found')) throw error;
          throw new Error(`There is no conversion ${id}.`);
        });
      output.json(proven);
      const { entries, checkpoint } = proven;
      output.line(`${counted(entries.length, 'event')} of ${id}, each proven by this checkpoint:`);
      for (const line of linesOf(checkpoint)) output.line(`  ${line}`);
      for (const { index, event } of entries) {
        const { type } = JSON.parse(event) as { readonly type: string };
        output.line(`  ${String(index).padStart(8)}  ${type}`);
      }
    });
  },
};
