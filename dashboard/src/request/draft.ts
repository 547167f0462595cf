/** What a person edits, which stays while other pages are shown, and what an address has them begin with. */
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { session } from '../session/session.ts';
import { broughtBack, type Edited, replacedBy, withPart } from './edited.ts';
import { placesIn } from './values.ts';

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
      setEdited((now) => withPart(now, typeof edit === 'function' ? edit(now.draft) : edit)),
    [],
  );
  const replace = useCallback(
    (part: Partial<Draft>, keepsTexts = false) =>
      setEdited((now) => replacedBy(now, part, keepsTexts)),
    [],
  );
  const { draft, number, before } = edited;
  return {
    draft,
    number,
    change,
    replace,
    /** Brings back what was there before the last one that took its place; undefined: there was none. */
    undo: before && (() => setEdited(broughtBack)),
  };
}

/**
 * Remembers the draft that was sent. The service names what is wrong by its place there.
 * @param number that of the draft
 */
export function useSent<Draft extends object>(draft: Draft, number: number) {
  const places = `${number} ${placesIn(draft)}`;
  const [sent, setSent] = useState({ draft, places });
  return {
    sent: sent.draft,
    /** Its items are still where they were: elsewhere, errors would stand at others. */
    isInPlace: sent.places === places,
    /** The draft is being sent. */
    note: () => setSent({ draft, places }),
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
