/** Keeps what is being put together while other pages are shown. It is in memory alone: files and passwords are in it. */
import { useCallback, useSyncExternalStore } from 'react';
import { fromBase64 } from '../../../../verifier/verify-evidence.mjs';
import type { Conversion, StoredRequest } from '../../api/conversions.ts';
import { optionsOf } from '../../request/values.ts';
import { session } from '../../session/session.ts';
import { contentOf, kindOf, PDF_MARK_WITHIN } from '../../ui/chosen-files.ts';
import { shownStep, type StepDraft, STEPS, type StepType, withStep } from './steps.ts';
import type { SourceDraft, WorkDraft, WorkFields } from './work.ts';
import { t } from '../../words/words.ts';

const EMPTY: WorkDraft = { sources: [], steps: [], named: {} };

/** Another person may sign in in the same tab. */
let kept: { readonly accountId: string; readonly draft: WorkDraft } | undefined;
let lastKey = 0;
const listeners = new Set<() => void>();

function keep(next: typeof kept): void {
  kept = next;
  for (const listener of listeners) listener();
}

session.onForget(() => keep(undefined));

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const nextKey = (): number => {
  lastKey += 1;
  return lastKey;
};

export const newStep = (type: StepType): StepDraft => ({
  key: nextKey(),
  type,
  values: STEPS[type].start,
});

/** The PDF of a completed conversion. */
export const sourceOf = ({ id, name, filename, bytes, pages }: Conversion): SourceDraft => ({
  key: nextKey(),
  conversion: id,
  name: name ?? filename ?? id,
  bytes,
  pages,
});

/** The work of a stored request. The names of its files are not stored, and `merge` goes without saying. */
export function draftOf(
  { document, options }: StoredRequest,
  { steps: { fields: known }, named }: WorkFields,
): WorkDraft {
  const { sources = [], steps = [] } = document ?? {};
  return {
    sources: sources.map(({ file = '', password }, at) => {
      const name = t('PDF {value}.pdf', { value: at + 1 });
      const taken = new File([Uint8Array.from(fromBase64(file))], name);
      const opens = password === undefined ? {} : { password };
      return { key: nextKey(), file: taken, name, bytes: taken.size, ...opens };
    }),
    steps: steps.flatMap(({ type, ...values }) =>
      type === 'merge' ? [] : { key: nextKey(), type, values: shownStep(type, values, known) },
    ),
    named: optionsOf(named, options),
  };
}

/** The files that are PDFs, and what is wrong with each of the others. */
export async function sourcesOf(
  files: readonly File[],
): Promise<{ readonly sources: readonly SourceDraft[]; readonly problems: readonly string[] }> {
  const sources: SourceDraft[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const { name, size } = file;
    try {
      const kind = kindOf(await contentOf(file, PDF_MARK_WITHIN));
      if (kind === 'pdf') sources.push({ key: nextKey(), file, name, bytes: size });
      else
        problems.push(
          t('{name} {value}. Choose a PDF.', {
            name,
            value: kind === 'empty' ? t('is empty') : t('is not a PDF'),
          }),
        );
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return { sources, problems };
}

export function useWorkDraft(accountId: string) {
  const current = (): WorkDraft => (kept?.accountId === accountId ? kept.draft : EMPTY);
  const draft = useSyncExternalStore(subscribe, current);
  const change = useCallback(
    (edit: (draft: WorkDraft) => Partial<WorkDraft>) => {
      const before = kept?.accountId === accountId ? kept.draft : EMPTY;
      keep({ accountId, draft: { ...before, ...edit(before) } });
    },
    [accountId],
  );
  const addSources = useCallback(
    (added: readonly SourceDraft[]) =>
      change(({ sources }) => ({ sources: [...sources, ...added] })),
    [change],
  );
  const addStep = useCallback(
    (added: StepDraft) => change(({ steps }) => ({ steps: withStep(steps, added) })),
    [change],
  );
  return { draft, change, addSources, addStep };
}
