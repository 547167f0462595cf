/** What is being edited, which the tab keeps over a reload, and what becomes of it. */
import html from '../../../../samples/start.html?raw';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Draft, NO_TEMPLATE, optionsBody, requestOf } from './request.ts';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import { type Converted, preview, refresh, sendOnce, untilEnded } from '../../request/convert.ts';
import { useDraft, useSent } from '../../request/draft.ts';
import type { Field } from '../../request/schema.ts';
import type { Values } from '../../request/values.ts';
import { kept } from '../../ui/kept.ts';
import { fill } from './template.ts';

const START: Draft = { source: 'html', html, url: '', template: NO_TEMPLATE, options: {} };

/** Each account has its own: another person may sign in in the same tab. */
const keyOf = (accountId: string): string => `playground ${accountId}`;

function storedDraft(accountId: string): Draft {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(keyOf(accountId)) ?? 'null');
    // Earlier ones have no template.
    return { ...START, ...(value as Partial<Draft> | null) };
  } catch {
    return START;
  }
}

function store(accountId: string, draft: Draft): void {
  const { files: _, ...options } = draft.options;
  const { pdf: __, ...smallest } = options;
  // Browsers keep some megabytes for a page: files, also those within the PDF, may be too much, or all of it.
  const lacking = { ...draft, lacksFiles: true };
  for (const some of [draft, { ...lacking, options }, { ...lacking, options: smallest }]) {
    try {
      sessionStorage.setItem(keyOf(accountId), JSON.stringify(some));
      return;
    } catch {}
  }
  sessionStorage.removeItem(keyOf(accountId));
}

/** The draft of the account, which outlives a reload of the page. */
export function useStoredDraft(accountId: string) {
  const edited = useDraft(keyOf(accountId), () => storedDraft(accountId));
  const { draft } = edited;
  useEffect(() => store(accountId, draft), [accountId, draft]);
  const { replace } = edited;
  return {
    ...edited,
    // What another one takes the place of lacks nothing any more.
    replace: useCallback<typeof replace>(
      (part, keepsTexts) => replace({ lacksFiles: false, ...part }, keepsTexts),
      [replace],
    ),
  };
}

const KEPT = 'preview';
/** The pause after a change before its preview is made. */
const PAUSE_MS = 800;

const keys = new IdempotencyKeys();

async function bodyOf(fields: readonly Field[], draft: Draft): Promise<Values> {
  if (draft.source !== 'template') return requestOf(fields, draft);
  const options = optionsBody(fields, draft);
  return { ...options, ...(await fill(draft.template, options)) };
}

async function convert(request: Values): Promise<Converted> {
  const record = await sendOnce(keys, JSON.stringify(request), (header) =>
    api.POST('/api/v1/pdf/', { params: { header }, body: request }),
  );
  return await untilEnded(record);
}

export function useOutcome(fields: readonly Field[], draft: Draft, number: number) {
  const [isPreviewing, setPreviewing] = useState(kept.read(KEPT) === 'on');
  const [last, setLast] = useState<Converted>();
  const running = useRef<AbortController>(undefined);
  const next = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { sent, isInPlace, note } = useSent(draft, number);
  const { mutate, data, error, isPending, variables, reset } = useMutation({
    mutationFn: async (as: 'conversion' | 'preview') => {
      note();
      running.current?.abort();
      const { signal } = (running.current = new AbortController());
      const body = await bodyOf(fields, draft);
      return as === 'preview' ? await preview(body, signal) : await convert(body);
    },
    onSuccess: (made) => {
      if (made.pdf !== undefined) setLast(made);
    },
    onSettled: async (_, __, as) => {
      if (as === 'conversion') await refresh();
    },
  });
  const isWorth = draft.source !== 'url' || draft.url !== '';
  const previewAfter = useCallback(
    (ms: number) => {
      clearTimeout(next.current);
      next.current = setTimeout(() => mutate('preview'), ms);
      return () => clearTimeout(next.current);
    },
    [mutate],
  );
  useEffect(
    () => (isPreviewing && isWorth ? previewAfter(PAUSE_MS) : undefined),
    // The draft is what is shown.
    // biome-ignore lint/correctness/useExhaustiveDependencies: see above
    [isPreviewing, isWorth, draft, previewAfter],
  );
  // One that the rate limit refused is made when that allows it.
  useEffect(() => {
    const isEarly = error instanceof ApiError && error.status === 429;
    return isPreviewing && isEarly
      ? previewAfter((error.retryAfterSeconds ?? 1) * 1000)
      : undefined;
  }, [isPreviewing, error, previewAfter]);
  useEffect(() => () => running.current?.abort(), []);
  return {
    convert: () => {
      clearTimeout(next.current);
      mutate('conversion');
    },
    isConverting: isPending && variables === 'conversion',
    isPending,
    made: data,
    error,
    /** What was wrong is not said any more. What was made stays. */
    forgive: () => {
      if (error !== null) reset();
    },
    sent,
    errors: isInPlace && error instanceof ApiError ? error.details : {},
    isPreviewing,
    setPreviewing: (isOn: boolean) => {
      if (!isOn) running.current?.abort();
      kept.write(KEPT, isOn ? 'on' : 'off');
      setPreviewing(isOn);
    },
    /** The last one that became a document: it stays while the next is made, and where that fails. */
    last: isPreviewing ? last : undefined,
  };
}
