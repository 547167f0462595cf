import { checkpointQueries, type ListedCheckpoint } from '../../../projections/checkpoints.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { cosignedAt, openNote } from '../../transparency-log/signed-note.ts';
import type { HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';

/** Dates reach no further. */
const MOST_SECONDS = 8_640_000_000_000n;

function timeOf(seconds: bigint | undefined): string | null {
  return seconds === undefined || seconds > MOST_SECONDS ? null : isoTime(Number(seconds) * 1000);
}

function checkpointRecord({ size, root, note, signedAt, timestampedAt }: ListedCheckpoint) {
  const { text, signatures } = openNote(note);
  const [origin = ''] = text.split('\n');
  return {
    size,
    root: root.toString('base64'),
    time: isoTime(signedAt),
    origin,
    witnesses: signatures
      .filter(({ name }) => name !== origin)
      .map((signature) => ({ name: signature.name, time: timeOf(cosignedAt(signature)) })),
    timestamped_at: timestampedAt === null ? null : isoTime(timestampedAt),
  };
}

export function listCheckpoints(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues);
    issues.throwIfAny();
    const queries = await consistentQuery(deps, checkpointQueries, ctx.state.asOf);
    const { rows, total } = queries.page(page);
    sendPage(ctx, deps.publicUrl, page, total, rows.map(checkpointRecord));
  };
}
