/** Keeps what is being edited for this tab, so that a reload does not lose it. */
import { useCallback, useEffect, useState } from 'react';
import { type Draft, NO_TEMPLATE } from './request.ts';
import { t } from '../../words/words.ts';

const START: Draft = {
  source: 'html',
  html: `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Invoice 4711</title>
    <style>
      body { font: 11pt/1.5 sans-serif; }
      h1 { color: teal; }
      td { padding: 2mm 6mm 2mm 0; }
    </style>
  </head>
  <body>
    <h1>Invoice 4711</h1>
    <table>
      <tr><td>Two days of work</td><td>1,200.00</td></tr>
      <tr><td>Travel</td><td>84.50</td></tr>
    </table>
    <p><strong>Total: 1,284.50</strong></p>
  </body>
</html>
`,
  url: '',
  template: NO_TEMPLATE,
  options: {},
};

/** Earlier ones have no template. */
const isDraft = (value: unknown): value is Omit<Draft, 'template'> & Partial<Draft> =>
  typeof value === 'object' &&
  value !== null &&
  'source' in value &&
  (value.source === 'html' || value.source === 'url' || value.source === 'template') &&
  'html' in value &&
  typeof value.html === 'string' &&
  'url' in value &&
  typeof value.url === 'string' &&
  'options' in value &&
  typeof value.options === 'object' &&
  value.options !== null;

/** Each account has its own: another person may sign in in the same tab. */
const keyOf = (accountId: string): string => t('playground {accountId}', { accountId });

type Stored = Draft & {
  /** It had more files than the browser keeps. */
  readonly lacksFiles?: boolean;
};

function storedDraft(accountId: string): Stored {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(keyOf(accountId)) ?? 'null');
    return isDraft(value) ? { ...START, ...value } : START;
  } catch {
    return START;
  }
}

function store(accountId: string, draft: Draft): void {
  const { files: _, ...options } = draft.options;
  const { pdf: __, ...smallest } = options;
  // Browsers keep some megabytes for a page: files, also those within the PDF, may be too much, or all of it.
  const lacking = { ...draft, lacksFiles: true };
  for (const kept of [draft, { ...lacking, options }, { ...lacking, options: smallest }]) {
    try {
      sessionStorage.setItem(keyOf(accountId), JSON.stringify(kept));
      return;
    } catch {}
  }
  sessionStorage.removeItem(keyOf(accountId));
}

/** The draft of the account, kept with each change. Its number changes when another text takes the place of one. */
export function useDraft(accountId: string) {
  const [{ lacksFiles = false, ...stored }] = useState(() => storedDraft(accountId));
  const [draft, setDraft] = useState<Draft>(stored);
  const [number, setNumber] = useState(0);
  useEffect(() => store(accountId, draft), [accountId, draft]);
  const change = useCallback(
    (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part })),
    [],
  );
  const replace = useCallback(
    (next: Partial<Draft>) => {
      change(next);
      setNumber((current) => current + 1);
    },
    [change],
  );
  return { draft, number, change, replace, lacksFiles };
}
