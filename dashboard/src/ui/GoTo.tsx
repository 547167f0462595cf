/** Goes to any page, document, key or member by a few letters of its name, and lists the keys that the pages know. */
import { useQuery } from '@tanstack/react-query';
import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { keysQuery, membersQuery } from '../api/people.ts';
import { conversionsQuery } from '../api/conversions.ts';
import { queryOf } from '../pages/conversions/search.ts';
import { Dialog } from './Dialog.tsx';
import fields from './forms.module.css';
import styles from './GoTo.module.css';
import { Icon, type IconName } from './icons.tsx';
import { t } from '../words/words.ts';

export interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Its sub-pages have entries of their own. */
  readonly exact?: boolean;
  /** Auditors have nothing to do there. */
  readonly toWork?: boolean;
  /** Also for a session that lacks what the account requires at sign-in. */
  readonly toAll?: boolean;
}

interface Target {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly link: NavigateOptions;
}

const MOST_DOCUMENTS = 8;
/** Each search counts in the rate limit: it begins when the person stops typing. */
const SETTLED_MS = 200;

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function useTargets(text: string, places: readonly Place[]) {
  const q = queryOf(useSettled(text));
  const documents = useQuery({
    ...conversionsQuery(q === undefined ? {} : { q }, { size: MOST_DOCUMENTS }),
    enabled: q !== undefined,
  });
  const keys = useQuery(keysQuery).data ?? [];
  const members = useQuery(membersQuery).data ?? [];
  const pages: readonly Target[] = places.map(({ to, label, icon }) => ({
    id: to,
    name: label,
    kind: t('Page'),
    icon,
    link: { to } as NavigateOptions,
  }));
  const named: readonly Target[] = [
    ...pages,
    ...keys.map(({ id, name }) => ({
      id,
      name,
      kind: t('Key'),
      icon: 'key' as const,
      link: { to: '/keys' } as const,
    })),
    ...members.map(({ id, name, email }) => ({
      id,
      name: [name, email].filter((each) => each !== null).join(', '),
      kind: t('Member'),
      icon: 'person' as const,
      link: { to: '/members' } as const,
    })),
  ];
  const wanted = text.trim().toLocaleLowerCase();
  const found =
    wanted === '' ? pages : named.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
  const listed = q === undefined ? [] : (documents.data?.items ?? []);
  return {
    isSearching: documents.isFetching,
    targets: [
      ...found,
      ...listed.map(
        ({ id, name = id }): Target => ({
          id,
          name,
          kind: t('Document'),
          icon: 'document',
          link: { to: '/conversions/$id', params: { id } },
        }),
      ),
    ],
  };
}

type GoToProps = { readonly places: readonly Place[]; readonly onClose: () => void };

/** The focus stays in the field, which names the marked one of the list below it. */
export function GoTo({ places, onClose }: GoToProps) {
  const navigate = useNavigate();
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { targets, isSearching } = useTargets(text, places);
  const marked = targets[Math.min(at, targets.length - 1)];
  const go = ({ link }: Target) => {
    onClose();
    void navigate(link);
  };
  const optionId = ({ id }: Target): string => `${listId}-${id}`;
  useEffect(() => {
    if (marked)
      document.getElementById(`${listId}-${marked.id}`)?.scrollIntoView({ block: 'nearest' });
  }, [listId, marked]);
  const onKeyDown = (event: KeyboardEvent) => {
    const last = Math.max(0, targets.length - 1);
    const now = Math.min(at, last);
    const next = { ArrowDown: now === last ? 0 : now + 1, ArrowUp: now === 0 ? last : now - 1 }[
      event.key
    ];
    if (event.key === 'Enter' && marked) go(marked);
    else if (next === undefined) return;
    else setAt(next);
    event.preventDefault();
  };
  return (
    <Dialog title={t('Go to')} isOpen onClose={onClose}>
      <input
        className={fields.input}
        role="combobox"
        aria-label={t('A page, or words of a document, key or member')}
        aria-expanded
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={marked && optionId(marked)}
        placeholder={t('A page, or words of a document, key or member')}
        autoComplete="off"
        maxLength={300}
        // biome-ignore lint/a11y/noAutofocus: the dialog is opened to type in it
        autoFocus
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={listId} aria-label={t('Where to go')} className={styles.list}>
        {targets.map((target) => (
          <div
            key={target.id}
            role="option"
            tabIndex={-1}
            id={optionId(target)}
            aria-selected={target === marked}
            className={styles.option}
            onClick={() => go(target)}
          >
            <Icon name={target.icon} />
            <bdi className="cut">{target.name}</bdi>
            <span className="note">{target.kind}</span>
          </div>
        ))}
      </div>
      <p role="status" className="note">
        {targets.length > 0 && t('{length} found', { length: targets.length })}
        {targets.length === 0 && (isSearching ? t('Searching…') : t('Nothing has this name.'))}
      </p>
    </Dialog>
  );
}

/** As it stands on keyboards of the language. */
const CTRL = t('Ctrl');

const KEYS = [
  [[CTRL, 'K'], t('Go to a page, or find a document, key or member')],
  [['?'], t('Show this list')],
  [[CTRL, t('Enter')], t('Send what the playground or the page Documents has')],
  [['Esc'], t('Close a dialog, a list or the menu')],
] as const;

/** @param isMac its keyboards have another key in the place of Ctrl */
export function KeyList({
  isMac,
  onClose,
}: {
  readonly isMac: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={t('Keys')} isOpen onClose={onClose}>
      <dl className={styles.keys}>
        {KEYS.map(([keys, effect]) => (
          <div key={effect}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{isMac && key === CTRL ? '⌘' : key}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
