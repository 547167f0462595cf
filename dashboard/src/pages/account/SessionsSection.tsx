import { useState } from 'react';
import { api, dataOf, queryClient, usePage } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { session } from '../../session/session.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { Section } from '../../ui/Page.tsx';
import { Badge, type Column, Records } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

type OpenSession = components['schemas']['Session'];

export const SESSIONS = ['sessions'];

async function end({ id, current }: OpenSession): Promise<string | undefined> {
  await dataOf(api.DELETE('/api/v1/sessions/{id}/', { params: { path: { id } } }));
  if (!current) return t('The session has ended.');
  session.end('ended');
  return undefined;
}

async function endAll(): Promise<void> {
  await dataOf(api.DELETE('/api/v1/sessions/'));
  session.end('all-ended');
}

/** Firefox on Linux; the first word of what a program calls itself; or the kind of the session. */
function nameOf({ client, kind }: OpenSession): string {
  const userAgent = client?.user_agent ?? undefined;
  if (userAgent === undefined) return kind === 'dashboard' ? t('A browser') : t('A program');
  return clientName(userAgent) ?? userAgent.split(' ')[0] ?? userAgent;
}

const METHODS: Readonly<Record<OpenSession['methods'][number], string>> = {
  password: t('password'),
  otp: t('code'),
  recovery_code: t('recovery code'),
  passkey: t('passkey'),
  oidc: t('identity provider'),
};

const COLUMNS: readonly Column<OpenSession>[] = [
  {
    header: t('Where'),
    isRowHeader: true,
    cell: (open) => (
      <span className="line">
        {nameOf(open)}
        {open.current && <Badge tone="ok" icon="check" text={t('This one')} />}
      </span>
    ),
  },
  { header: t('Address'), cell: ({ client }) => client?.address ?? t('Not recorded') },
  { header: t('Signed in'), cell: ({ opened_at: at }) => <Time iso={at} /> },
  { header: t('With'), cell: ({ methods }) => methods.map((each) => METHODS[each]).join(', ') },
  {
    header: t('Ends at the latest'),
    cell: ({ expires_at: at }) => <Time iso={at} look="short" />,
  },
  {
    header: t('Actions'),
    isActions: true,
    cell: (open) => (
      <ConfirmButton
        small
        text={t('End')}
        aria-label={t('End the session {open}', { open: nameOf(open) })}
        title={open.current ? t('End this very session?') : t('End this session?')}
        action={t('End the session')}
        onConfirm={() => end(open)}
        // It may have ended elsewhere: then the list must not go on showing it.
        onClosed={() => void queryClient.invalidateQueries({ queryKey: SESSIONS })}
      >
        {open.current
          ? t('You are signed out here at once.')
          : t(
              'Anybody who uses it is signed out at once, and needs the password to come back.',
            )}{' '}
        {rich('Otherwise it ends on {time} at the latest.', {
          time: <Time iso={open.expires_at} relative={false} />,
        })}
      </ConfirmButton>
    ),
  },
];

export function SessionsSection() {
  const [page, setPage] = useState(1);
  const list = usePage({
    key: SESSIONS,
    page,
    size: 20,
    ask: (query, signal) => api.GET('/api/v1/sessions/', { params: { query }, signal }),
  });
  return (
    <Section
      title={t('Sessions')}
      lead={t(
        'Where you are signed in to this account. End what you do not know, then change the password.',
      )}
      actions={
        <ConfirmButton
          small
          text={t('End all your sessions')}
          title={t('End all your sessions?')}
          onConfirm={endAll}
        >
          {t(
            'You are signed out everywhere at once, also here. Other people and API keys are not concerned.',
          )}
        </ConfirmButton>
      }
    >
      <Records
        list={list}
        of={t('sessions')}
        label={t('Sessions')}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onPage={setPage}
        empty={undefined}
      />
    </Section>
  );
}

/** Names of browsers, the more particular first: most also call themselves Chrome or Safari. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

const nameIn = (names: readonly (readonly [string, string])[], userAgent: string) =>
  names.find(([mark]) => userAgent.includes(mark))?.[1];

/** Firefox on Linux; undefined for a program that is not a browser. */
export function clientName(userAgent: string): string | undefined {
  const browser = nameIn(BROWSERS, userAgent);
  const system = nameIn(SYSTEMS, userAgent);
  return browser === undefined || system === undefined
    ? browser
    : t('{browser} on {system}', { browser, system });
}
