/** A thread of its own: reads and fills templates, which may take as long as their writers like. */
import { fillTexts, parseTexts } from './liquid.ts';
import type { Filled, FillJob, FillProblem, FillReport, FillTask } from './messages.ts';
import { dataProblems, schemaProblems } from './schema.ts';

const areProblems = (value: object): value is readonly FillProblem[] => Array.isArray(value);

function* work({
  texts,
  schema,
  data,
  maxBytes,
  maxTotalBytes,
}: FillJob): Generator<Filled, readonly FillProblem[]> {
  const parsed = parseTexts(texts);
  const rules = schema === undefined ? undefined : (JSON.parse(schema) as unknown);
  const wrong = rules === undefined ? [] : schemaProblems(rules, ['schema']);
  if (areProblems(parsed)) return [...parsed, ...wrong];
  if (wrong.length > 0) return wrong;
  let left = maxTotalBytes;
  for (const text of data) {
    const each = JSON.parse(text) as object;
    const problems = typeof rules === 'object' && rules !== null ? dataProblems(rules, each) : [];
    if (problems.length > 0) {
      yield { problems };
      continue;
    }
    const filled = fillTexts(parsed, each, maxBytes);
    if (areProblems(filled)) {
      yield { problems: filled };
      continue;
    }
    left -= filled.bytes;
    if (left < 0) {
      const message = `What the templates make of all data together has more than ${maxTotalBytes} bytes. Send several batches.`;
      return [{ path: ['data'], message }];
    }
    yield { texts: filled.texts };
  }
  return [];
}

function problemsOf(error: unknown): readonly FillProblem[] {
  // A schema that refers to itself without an end.
  if (error instanceof RangeError)
    return [{ path: ['schema'], message: 'Has no end: it refers to itself.' }];
  throw error;
}

export default function fill({ job, reports }: FillTask): readonly FillProblem[] {
  const report = (message: FillReport): void => reports.postMessage(message, []);
  try {
    report({ kind: 'begun' });
    const jobs = work(job);
    for (let next = jobs.next(); ; next = jobs.next()) {
      if (next.done) return next.value;
      report({ kind: 'filled', filled: next.value });
    }
  } catch (error) {
    return problemsOf(error);
  }
}
