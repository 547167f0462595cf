import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { TextField } from '../../ui/forms.tsx';
import { MAX_QUERY_CHARACTERS, queryOf } from './search.ts';
import { t } from '../../words/words.ts';

/** The pause after a sign that is typed, before it is searched for. */
const PAUSE_MS = 250;

interface SearchFieldProps {
  readonly query: string | undefined;
  readonly onChange: (query: string | undefined) => void;
}

/** One field for all that names a conversion. It asks once a person pauses. */
export function SearchField({ query, onChange }: SearchFieldProps) {
  const [text, setText] = useState(query ?? '');
  const router = useRouter();
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => setText((shown) => (queryOf(shown) === query ? shown : (query ?? ''))), [query]);
  const wanted = queryOf(text);
  useEffect(() => {
    if (wanted === query) return undefined;
    const here = router.latestLocation.pathname;
    const timer = setTimeout(() => {
      // Whoever has opened another page meanwhile, which is still loading, is not brought back.
      if (router.latestLocation.pathname === here) latest.current(wanted);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
    // The address follows the text, not the other way round.
    // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  }, [wanted]);
  return (
    <TextField
      label={t('Search')}
      type="search"
      value={text}
      autoComplete="off"
      spellCheck="false"
      maxLength={MAX_QUERY_CHARACTERS}
      hint={t('File name, title, URL, reference, tag or id: the beginning of each word is enough.')}
      onChange={setText}
    />
  );
}
