/** The page of a statement: what our renderer prints of it. */
import type { LedgerSums } from '../../projections/ledger.ts';
import type { UsageDay } from '../../projections/usage.ts';
import { numberText } from '../domain/counted.ts';

interface Place {
  readonly position: bigint;
  /** The event's number in the log, from 0. */
  readonly index: number;
}

export interface Statement {
  readonly month: string;
  readonly account: { readonly id: string; readonly name: string; readonly plan: string };
  readonly madeAt: string;
  /** The conversion of the statement of the same month that was asked for before. */
  readonly replaces: string | undefined;
  readonly credits: LedgerSums;
  readonly days: readonly (Omit<UsageDay, 'day'> & { readonly day: string })[];
  /** `by` names a key, or says how else it was asked for; `person` is who asked. */
  readonly requests: readonly {
    readonly by: string;
    readonly person: string | undefined;
    readonly count: number;
  }[];
  readonly log: {
    readonly events: number;
    readonly first: Place | undefined;
    readonly last: Place | undefined;
    readonly origin: string;
    readonly size: number;
    readonly root: string;
  };
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const text = (value: string): string => value.replace(/[&<>]/g, (each) => ENTITIES[each] ?? each);
/** With a sign of its own, which a narrow hyphen is not. */
const change = (value: number): string =>
  `${value < 0 ? '−' : value > 0 ? '+' : ''}${numberText(Math.abs(value))}`;

type Cell = string | number;

/** @param cells in HTML; numbers stand at the end of their column */
const row = (cells: readonly Cell[]): string =>
  `<tr>${cells
    .map((each) =>
      typeof each === 'number' ? `<td class="n">${numberText(each)}</td>` : `<td>${each}</td>`,
    )
    .join('')}</tr>`;

const facts = (rows: readonly (readonly [string, Cell])[]): string =>
  `<table class="facts">${rows.map(([name, value]) => `<tr><th>${name}</th><td>${typeof value === 'number' ? numberText(value) : value}</td></tr>`).join('')}</table>`;

/** @param numbers the headings of columns of numbers */
const table = (
  columns: readonly string[],
  numbers: readonly string[],
  rows: readonly (readonly Cell[])[],
  nothing: string,
): string => {
  if (rows.length === 0) return `<p>${nothing}</p>`;
  const heads = [
    ...columns.map((each) => `<th>${each}</th>`),
    ...numbers.map((each) => `<th class="n">${each}</th>`),
  ];
  const body = rows.map((cells) => row(cells)).join('');
  return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${body}</tbody></table>`;
};

const STYLE = `
  body { font: 10pt/1.45 'DejaVu Sans', 'Liberation Sans', sans-serif; color: #1b1f24; margin: 0 }
  h1 { font-size: 20pt; margin: 0 0 2pt }
  h2 { font-size: 12pt; margin: 18pt 0 5pt; break-after: avoid }
  p { margin: 0 0 6pt }
  .lead { color: #57606a; margin-bottom: 14pt }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; padding: 3pt 6pt; border-bottom: 0.5pt solid #d0d7de; vertical-align: top;
    overflow-wrap: anywhere }
  thead th { color: #57606a; font-weight: 600; font-size: 8.5pt; border-bottom: 1pt solid #8c959f }
  .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
  .facts th { width: 32%; font-weight: 400; color: #57606a }
  tr, section { break-inside: avoid }
  code { font: 8.5pt 'DejaVu Sans Mono', 'Liberation Mono', monospace; overflow-wrap: anywhere }`;

const HOW: Readonly<Record<string, string>> = {
  session: 'Signed in',
  operator: 'The operator of the service',
  service: 'The service',
  key: 'A key',
};

const place = (at: Place | undefined): string =>
  at === undefined ? 'none' : `position ${at.position}, number ${numberText(at.index)} in the log`;

/** Words for the month, such as `October 2026`. */
export const monthText = (month: string): string =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en-US', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });

/** @returns the HTML of the whole document */
export function statementHtml(statement: Statement): string {
  const { month, account, madeAt, replaces, credits, days, requests, log } = statement;
  const { grant = 0, debit = 0, refund = 0 } = credits.sums;
  const sum = (of: 'accepted' | 'completed' | 'failed' | 'pages' | 'tests'): number =>
    days.reduce((all, day) => all + day[of], 0);
  const failures = new Map<string, number>();
  for (const [code, count] of days.flatMap((day) => Object.entries(day.failures))) {
    failures.set(code, (failures.get(code) ?? 0) + count);
  }
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Statement of ${monthText(month)}</title>
<style>${STYLE}</style></head><body>
<h1>Statement of ${monthText(month)}</h1>
<p class="lead">Pressledger · all times and days in UTC · made ${madeAt}</p>
${facts([
  ['Account', text(account.name)],
  ['Id', `<code>${account.id}</code>`],
  ['Plan, when this was made', text(account.plan)],
  ...(replaces === undefined ? [] : [['Replaces', `<code>${replaces}</code>`] as const]),
])}
<h2>Credits</h2>
${facts([
  ['Balance at the beginning', credits.before],
  ['Granted', change(grant)],
  ['Taken', change(debit)],
  ['Given back', change(refund)],
  ['Balance at the end', credits.after],
])}
<h2>Conversions by result</h2>
${facts([
  ['Accepted', sum('accepted')],
  ['of these tests, which cost nothing', sum('tests')],
  ['Completed', sum('completed')],
  ['Pages of these', sum('pages')],
  ['Failed or cancelled', sum('failed')],
  ...[...failures].map(([code, count]) => [`by <code>${code}</code>`, count] as const),
])}
<h2>By key and person</h2>
${table(
  ['Asked for with', 'By'],
  ['Accepted'],
  requests.map(({ by, person, count }) => [
    text(HOW[by] ?? by),
    person === undefined ? '–' : text(person),
    count,
  ]),
  'Nothing was asked for in this month.',
)}
<h2>By day</h2>
${table(
  ['Day'],
  ['Accepted', 'Completed', 'Failed', 'Pages'],
  days.map(({ day, accepted, completed, failed, pages }) => [
    day,
    accepted,
    completed,
    failed,
    pages,
  ]),
  'Nothing happened in this month.',
)}
<section>
<h2>In the event log</h2>
<p>Each figure above follows from the events of the account in the log. The account reads them in its history, and proves
them with the checkpoint below, which the log has signed.</p>
${facts([
  ['Events of the month', log.events],
  ['First', place(log.first)],
  ['Last', place(log.last)],
  ['Log', `<code>${text(log.origin)}</code>`],
  ['Checkpoint that covers them', `<code>${log.size}</code> events, root <code>${log.root}</code>`],
])}
</section></body></html>`;
}
