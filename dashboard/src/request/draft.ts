/** What a person edits, which stays while other pages are shown, and what an address has them begin with. */
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { session } from '../session/session.ts';

interface Edited<Draft> {
  readonly draft: Draft;
  /** What another one took the place of. */
  readonly before?: Draft;
  /** Counts those that took the place of another: editors keep their own text, and begin again with each. */
  readonly number: number;
}

/** In memory alone, for files and passwords may be in it. */
const kept = new Map<string, Edited<object>>();
session.onForget(() => kept.clear());

/**
 * The draft of that name.
 * @param name also names the account: another person may sign in in the same tab
 * @param start what the first draft is
 */
export function useDraft<Draft extends object>(name: string, start: () => Draft) {
  const [edited, setEdited] = useState<Edited<Draft>>(
    () => (kept.get(name) as Edited<Draft> | undefined) ?? { draft: start(), number: 0 },
  );
  useEffect(() => {
    kept.set(name, edited);
  }, [name, edited]);
  const change = useCallback(
    (edit: Partial<Draft> | ((draft: Draft) => Partial<Draft>)) =>
      setEdited((now) => {
        const part = typeof edit === 'function' ? edit(now.draft) : edit;
        return { ...now, draft: { ...now.draft, ...part } };
      }),
    [],
  );
  const replace = useCallback(
    (part: Partial<Draft>, keepsTexts = false) =>
      setEdited(({ draft, number }) => ({
        draft: { ...draft, ...part },
        before: draft,
        number: keepsTexts ? number : number + 1,
      })),
    [],
  );
  const { draft, number, before } = edited;
  return {
    draft,
    number,
    change,
    replace,
    /** Brings back what was there before the last one that took its place; undefined: there was none. */
    undo: before && (() => replace(before)),
  };
}

/**
 * Takes over what the address names, once, and then shows the page without it: a reload must show what was edited since.
 * @param data what it stands for, as soon as it is there
 */
export function useTaken<Data>(
  named: string | undefined,
  data: Data | undefined,
  take: (data: Data) => void,
): void {
  const navigate = useNavigate();
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (named === undefined) last.current = undefined;
    if (named === undefined || data === undefined || last.current === named) return;
    last.current = named;
    take(data);
    void navigate({ to: '.', search: {}, replace: true });
  }, [named, data, take, navigate]);
}
