import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answerOf, api, totalOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { formatCredits, formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { Loaded } from '../../ui/states.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { formatTime, Time } from '../../ui/Time.tsx';
import styles from './History.module.css';
import { isoOf, momentOf } from './search.ts';

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
      title="The account at an earlier time"
      lead="Its credits, its plan and its keys as they were then."
      fold={asOf === undefined ? 'closed' : 'open'}
    >
      <form className={styles.filters} onSubmit={show}>
        <TextField
          label="Time"
          type="datetime-local"
          hint={`In your zone, ${new Intl.DateTimeFormat().resolvedOptions().timeZone}.`}
          value={text}
          onChange={setText}
        />
        <div className={styles.buttons}>
          <Button type="submit" icon="history">
            Show
          </Button>
          {asOf !== undefined && (
            <Button look="quiet" onPress={() => onAsOf(undefined)}>
              Back to the present
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
  [/^Lies in the future/, 'This time is in the future. Choose one that has passed.'],
  [/^Lies beyond the end/, 'The log has no event of this number yet. Choose a time instead.'],
  [/^Must be/, 'This is not a time that the log can have. Choose another one.'],
] as const;

function refusalText({ message, details }: ApiError): string {
  const problem = details['as_of']?.join(' ') ?? message;
  return REFUSALS.find(([pattern]) => pattern.test(problem))?.[1] ?? problem;
}

function StateAt({ asOf }: { readonly asOf: string }) {
  const moment = momentOf(asOf);
  const state = useQuery({
    queryKey: ['state', moment],
    queryFn: ({ signal }) => readState(moment ?? '', signal),
    enabled: moment !== undefined,
    // The past does not change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (moment === undefined) return <Notice kind="danger">This is not a time.</Notice>;
  if (state.error instanceof ApiError && state.error.status < 500) {
    return <Notice kind="danger">{refusalText(state.error)}</Notice>;
  }
  return (
    <Loaded query={state} what="the account as it was">
      {(then) => <Past moment={moment} {...then} />}
    </Loaded>
  );
}

type PastProps = Awaited<ReturnType<typeof readState>> & { readonly moment: string };

function Past({ moment, account, keys, keyCount, position }: PastProps) {
  const then = /^\d+$/.test(moment)
    ? `after event ${moment} of the log`
    : `on ${formatTime(moment)}`;
  return (
    <div className={styles.past}>
      <p className={styles.pastTitle}>
        This is the past: the account as it was {then}
        {position !== null && position !== moment && `, after event ${position} of the log`}.
      </p>
      <Facts
        facts={{
          Credits: formatCredits(account.credits),
          Plan: planName(account.plan),
          Email: account.email,
          Opened: <Time iso={account.created_at} relative={false} />,
          'Keys that worked':
            keyCount === 0 ? (
              'None'
            ) : (
              <ul>
                {keys.map(({ id, name, prefix }) => (
                  <li key={id}>
                    {name} (<code>{prefix}…</code>)
                  </li>
                ))}
                {keyCount > keys.length && <li>and {formatNumber(keyCount - keys.length)} more</li>}
              </ul>
            ),
        }}
      />
    </div>
  );
}
