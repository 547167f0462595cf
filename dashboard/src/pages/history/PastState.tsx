import { skipToken, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answerOf, api, FOR_EVER, totalOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { Facts } from '../../ui/records.tsx';
import { formatTime, Time } from '../../ui/time.tsx';
import { formatCredits, formatNumber, planName } from '../../ui/format.ts';
import { Loaded, Notice, Section } from '../../ui/Page.tsx';
import { TextField } from '../../ui/forms.tsx';
import styles from './History.module.css';
import { isoOf, momentOf } from './search.ts';
import { t } from '../../words/words.ts';

/** The account with its keys as it was, and the place in the log that the moment stands for. */
async function readState(moment: string, signal: AbortSignal) {
  const query = { as_of: moment };
  const [account, keys] = await Promise.all([
    answerOf(api.GET('/api/v1/account/', { params: { query }, signal })),
    answerOf(
      api.GET('/api/v1/api-keys/', { params: { query: { ...query, page_size: 100 } }, signal }),
    ),
  ]);
  return {
    account: account.data,
    position: account.response.headers.get('Pressledger-As-Of'),
    keys: keys.data,
    keyCount: totalOf(keys.response),
  };
}

interface PastStateProps {
  /** A time or a position of the log; `undefined` for the present, which is not shown. */
  readonly asOf: string | undefined;
  readonly onAsOf: (asOf: string | undefined) => void;
}

/** The account as it was at an earlier time, as the log has it. */
export function PastState({ asOf, onAsOf }: PastStateProps) {
  const [text, setText] = useState(isoOf(asOf) === undefined ? '' : (asOf ?? ''));
  const show = (event: FormEvent) => {
    event.preventDefault();
    onAsOf(text === '' ? undefined : text);
  };
  return (
    <Section
      title={t('The account at an earlier time')}
      lead={t('Its credits, its plan and its keys as they were then.')}
      fold={asOf === undefined ? 'closed' : 'open'}
    >
      <form className={styles.filters} onSubmit={show}>
        <TextField
          label={t('Time')}
          type="datetime-local"
          hint={t('In your zone, {timeZone}.', {
            timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
          })}
          value={text}
          onChange={setText}
        />
        <div className="line by-field">
          <Button type="submit" icon="history">
            {t('Show')}
          </Button>
          {asOf !== undefined && (
            <Button look="quiet" onPress={() => onAsOf(undefined)}>
              {t('Back to the present')}
            </Button>
          )}
        </div>
      </form>
      {asOf !== undefined && <StateAt key={asOf} asOf={asOf} />}
    </Section>
  );
}

/** The API's words for a moment name its parameter; these are of the page. Others are for people already. */
const REFUSALS = [
  [/^Lies in the future/, t('This time is in the future. Choose one that has passed.')],
  [/^Lies beyond the end/, t('The log has no event of this number yet. Choose a time instead.')],
  [/^Must be/, t('This is not a time that the log can have. Choose another one.')],
] as const;

function refusalText({ message, details }: ApiError): string {
  const problem = details['as_of']?.join(' ') ?? message;
  return REFUSALS.find(([pattern]) => pattern.test(problem))?.[1] ?? problem;
}

const after = (moment: string): string => t('after event {moment} of the log', { moment });

function StateAt({ asOf }: { readonly asOf: string }) {
  const moment = momentOf(asOf);
  const state = useQuery({
    queryKey: ['state', moment],
    queryFn: moment === undefined ? skipToken : ({ signal }) => readState(moment, signal),
    // The past does not change.
    ...FOR_EVER,
  });
  if (moment === undefined) return <Notice kind="danger">{t('This is not a time.')}</Notice>;
  if (state.error instanceof ApiError && state.error.status < 500) {
    return <Notice kind="danger">{refusalText(state.error)}</Notice>;
  }
  const then = /^\d+$/.test(moment)
    ? after(moment)
    : t('on {moment}', { moment: formatTime(moment) });
  return (
    <Loaded query={state} what={t('the account as it was')}>
      {({ account, keys, keyCount, position }) => (
        <div className="box stack" data-tone="warning">
          <p className="strong">
            {t('This is the past: the account as it was {moment}{value}.', {
              moment: then,
              value: position === null || position === moment ? '' : `, ${after(position)}`,
            })}
          </p>
          <Facts
            facts={{
              [t('Credits')]: formatCredits(account.credits),
              [t('Plan')]: planName(account.plan),
              [t('Email')]: account.email,
              [t('Opened')]: <Time iso={account.created_at} relative={false} />,
              [t('Keys that worked')]:
                keyCount === 0 ? t('None') : <Keys {...{ keys, keyCount }} />,
            }}
          />
        </div>
      )}
    </Loaded>
  );
}

function Keys({
  keys,
  keyCount,
}: Pick<Awaited<ReturnType<typeof readState>>, 'keys' | 'keyCount'>) {
  return (
    <ul>
      {keys.map(({ id, name, prefix }) => (
        <li key={id}>
          {name} (<code>{prefix}…</code>)
        </li>
      ))}
      {keyCount > keys.length && (
        <li>
          {t('and {formatNumber} more', { formatNumber: formatNumber(keyCount - keys.length) })}
        </li>
      )}
    </ul>
  );
}
