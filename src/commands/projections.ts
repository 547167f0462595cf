import { createHash } from 'node:crypto';
import {
  hasOneKey,
  type RowDifference,
  type TableComparison,
  type Value,
} from '../read-model/comparison.ts';
import type { RebuildProgress } from '../read-model/rebuild.ts';
import {
  type ComparedProjection,
  compareWithLog,
  differs,
  listProjections,
  MOST_LAG,
  type Verification,
} from '../read-model/verification.ts';
import {
  type CommandContext,
  type Invocation,
  type Output,
  type Run,
  textOption,
  toMilliseconds,
  wholeNumber,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { eventsRead } from './output.ts';

const showProgress =
  (output: Output) =>
  (progress: RebuildProgress): void =>
    output.progress(eventsRead(progress));

export const projectionsRebuild: Run = async (_, { open, output }) => {
  await open.withCore(async (core) => {
    const { events, seconds } = await core.rebuildReadModel(showProgress(output));
    output.json({ events, seconds: toMilliseconds(seconds) });
    output.line(
      `Rebuilt from ${counted(events, 'event')} in ${Math.max(seconds, 0.1).toFixed(1)} s.`,
    );
  });
};

export const projectionsList: Run = async (_, { open, output }) => {
  await open.withStoredLog(async (log) => {
    const listed = await listProjections(log);
    output.json(
      listed.map(({ name, definition, version, liveVersion, rows, position, lag }) => ({
        name,
        definition,
        version: version ?? null,
        live_version: liveVersion ?? null,
        tables: rows,
        position: position.toString(),
        lag,
      })),
    );
    const rows = listed.map(({ name, version, liveVersion, rows: of, ...each }) => [
      name,
      liveVersion ?? version ?? '-',
      Object.entries(of)
        .map(([table, count]) => `${table} ${count}`)
        .join(', '),
      each.position.toString(),
      each.lag < MOST_LAG ? each.lag : `${MOST_LAG} or more`,
      each.definition,
    ]);
    output.table(['projection', 'version', 'rows', 'position', 'lag', 'definition'], rows);
  });
};

export const projectionsVerify: Run = async (invocation, context) =>
  await compare(invocation, context, true);

export const projectionsDiff: Run = async (invocation, context) =>
  await compare(invocation, context, false);

async function compare(
  invocation: Invocation,
  { open, output }: CommandContext,
  mustBeSame: boolean,
): Promise<void> {
  const most = wholeNumber(textOption(invocation, 'limit') ?? '20', '--limit', 1, 100_000);
  await open.withStoredLog(async ({ store, readModel }) => {
    const verification = await compareWithLog({
      store,
      readModel,
      most,
      mustBeSame,
      onProgress: showProgress(output),
      onTable: (table) => output.progress(`Comparing ${table}`),
    });
    tell(verification, most, output);
  });
}

/** A difference as `--json` prints it: `found` is in use, `expected` is what the log gives. */
interface Difference {
  readonly at: {
    readonly projection: string;
    readonly table?: string;
    readonly key?: Readonly<Record<string, string>>;
    readonly column?: string;
  };
  readonly expected: string | null;
  readonly found: string | null;
}

/** @throws {Error} they are not equal */
function tell({ projections, events, seconds }: Verification, most: number, output: Output): void {
  const comparisons = projections.flatMap((each) => each.comparisons);
  const total = (of: (comparison: TableComparison) => number): number =>
    comparisons.reduce((sum, comparison) => sum + of(comparison), 0);
  const tables = comparisons.map(({ table, rows, digest }) => ({
    table,
    rows: rows.live,
    digest: digest.live,
  }));
  const scope = { events, seconds: toMilliseconds(seconds), tables };
  const differences = projections.filter(differs).flatMap(differencesOf).slice(0, most);
  const [first] = differences;
  if (first === undefined) {
    output.json({ ok: true, ...scope });
    const rows = counted(
      total(({ rows: { live } }) => live),
      'row',
    );
    output.line(`${counted(tables.length, 'table')} with ${rows} compared: no difference.`);
    return;
  }
  const differing = total((comparison) => comparison.differing);
  output.json({ ok: false, ...first, differing_rows: differing, differences, ...scope });
  output.table(
    ['projection', 'table', 'row', 'column', 'in use', 'by the log'],
    differences.map(({ at: { projection, table, key, column }, found, expected }) => {
      const row = key && Object.values(key).join(' ');
      return [projection, table, row, column, found, expected];
    }),
  );
  const names = projections.filter(differs).map(({ name }) => name);
  throw new Error(
    `The read models in use are not what this release makes of the log: ${names.join(', ')} ` +
      `(${counted(differing, 'row')}).`,
  );
}

function differencesOf({ name, definition, comparisons }: ComparedProjection): Difference[] {
  const projection = name;
  if (definition === 'added') return [{ at: { projection }, expected: 'projection', found: null }];
  if (definition === 'removed') {
    return [{ at: { projection }, expected: null, found: 'projection' }];
  }
  return comparisons.flatMap(({ table, key, onlyIn, first }): readonly Difference[] => {
    const at = { projection, table };
    if (!hasOneKey(key))
      return [{ at, expected: tableText(key.rebuilt), found: tableText(key.live) }];
    return [
      ...onlyIn.rebuilt.map((column) => ({
        at: { ...at, column },
        expected: 'column',
        found: null,
      })),
      ...onlyIn.live.map((column) => ({ at: { ...at, column }, expected: null, found: 'column' })),
      ...first.map((difference) => rowText(at, difference)),
    ];
  });
}

const tableText = (key: readonly string[]): string | null =>
  key.length === 0 ? null : `table by ${key.join(', ')}`;

function rowText(at: Difference['at'], { key: values, ...row }: RowDifference): Difference {
  const key = Object.fromEntries(
    Object.entries(values).map(([column, value]) => [column, String(valueText(value))]),
  );
  if ('onlyIn' in row) {
    const isLive = row.onlyIn === 'live';
    return { at: { ...at, key }, expected: isLive ? null : 'row', found: isLive ? 'row' : null };
  }
  const { column, live, rebuilt } = row;
  return { at: { ...at, key, column }, expected: valueText(rebuilt), found: valueText(live) };
}

/** The length of a hash in hex. */
const LONGEST_VALUE = 64;
/** A sealed text says nothing to anybody. */
const SEALED = /^v1\.[\w-]{38,}$/;

function valueText(value: Value): string | null {
  if (value === null) return null;
  const text = Buffer.isBuffer(value) ? value.toString('hex') : String(value);
  if (text.length <= LONGEST_VALUE && !SEALED.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${text.slice(0, 16)}… (${text.length} characters, SHA-256 ${hash}…)`;
}
