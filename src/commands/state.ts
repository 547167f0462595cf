import { Readable } from 'node:stream';
import { accountQueries } from '../../projections/accounts.ts';
import { recordLook } from '../accounts/accounts.ts';
import { operatorContext } from '../actors/command-context.ts';
import { everyRow, STATE_PROJECTIONS, stateDocument, withFoldedLog } from '../conversions/state.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { plainJson } from '../text/plain-text.ts';
import { momentOption, momentText } from './as-of.ts';
import { type Run, requiredOption, textOption, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';
import { checkOutputFile, OWNER_ONLY, writeOut, writeOutputFile } from './pdf-target.ts';

const PIECE_CHARACTERS = 64 * 1024;

async function* inPieces(document: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let piece = '';
  for await (const text of document) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield Buffer.from(plainJson(piece));
    piece = '';
  }
  yield Buffer.from(plainJson(piece));
}

export const state: Run = async (invocation, { open, output }) => {
  requiredOption(invocation, 'as-of');
  const path = textOption(invocation, 'output') ?? '-';
  if (path === '') throw new UsageError('--output needs the name of a file.');
  if (path !== '-') await checkOutputFile(path);
  momentOption(invocation);
  await open.withCore(async (core) => {
    const moment = momentOption(invocation, await core.store.head());
    if (moment === undefined) return;
    const asOf = momentText(moment);
    const queries = await consistentQuery(core, accountQueries);
    for (const { id } of everyRow((page) => queries.all(page))) {
      await recordLook(core, id, operatorContext(core.clock), 'account');
    }
    await withFoldedLog(
      core.store,
      STATE_PROJECTIONS,
      moment,
      async (fold) => {
        const document = inPieces(stateDocument(fold, core.vault, asOf));
        if (path === '-') {
          for await (const piece of document) await writeOut(piece);
          return;
        }
        const content = async () => Readable.from(document, { objectMode: false });
        await writeOutputFile(content, path, OWNER_ONLY);
        output.json({ as_of: asOf, file: path });
        output.line(`The state as of ${asOf} is in ${path}.`);
      },
      // The document and the progress may go to the same terminal.
      (events) => path !== '-' && output.progress(`${counted(events, 'event')} read`),
    );
  });
};
