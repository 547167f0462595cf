/** `tlog` and `proof`: the signed side of the event log. */
import { type Run } from './command.ts';
import { counted } from '../domain/counted.ts';
import { isPressledgerError } from './service.ts';

/** The verifier keys in force, the newest first. */
interface LogKeys {
  readonly keys: readonly string[];
}

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

export const tlogKey: Run = async (_, { open, output }) => {
  await open.withOperator(async (api) => {
    const { keys } = await api.get<LogKeys>('/operator/log-keys/');
    output.json({ keys });
    for (const key of keys) output.line(key);
  });
};

export const tlogCheckpoint: Run = async (_, { open, output }) => {
  await open.withOperator(async (api) => {
    const checkpoint = await api.post<{ readonly note: string }>('/operator/checkpoints/');
    output.json(checkpoint);
    for (const line of linesOf(checkpoint.note)) output.line(line);
  });
};

export const tlogRotate: Run = async ({ values }, { open, output }) => {
  await open.withOperator(async (api) => {
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
};

export const proof: Run = async ({ positionals: [id = ''] }, { open, output }) => {
  await open.withOperator(async (api) => {
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
};
