import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, given, queryClient } from '../../api/client.ts';
import { type ApiKey, keysQuery, useRights } from '../../api/people.ts';
import { Checkbox, CheckboxGroup, type Choice, NumberField, Select } from '../../ui/choices.tsx';
import { ConfirmButton, DialogButton, type SecretProps, useSecret } from '../../ui/Dialog.tsx';
import { SendForm, TextField, type TextOf } from '../../ui/forms.tsx';
import { EmptyState, Loaded, Page } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';
import { Revocation } from './Revocation.tsx';

const forgetKeys = () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });

async function revoke({ id, name }: ApiKey): Promise<string> {
  await dataOf(api.DELETE('/api/v1/api-keys/{id}/', { params: { path: { id } } }));
  return t('The key “{name}” is revoked.', { name });
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { header: t('Name'), cell: ({ name }) => name, isRowHeader: true },
  { header: t('Begins with'), cell: ({ prefix }) => <code>{prefix}…</code> },
  {
    header: t('May'),
    cell: (key) => (
      <>
        {scopesText(key)}
        {boundsOf(key).map((bound) => (
          <div key={bound} className="muted">
            {bound}
          </div>
        ))}
      </>
    ),
  },
  {
    header: t('Expires'),
    cell: ({ expires_at: at }) =>
      at === undefined ? <span className="muted">{t('Never')}</span> : <Time iso={at} />,
  },
  { header: t('Created'), cell: ({ created_at: at }) => <Time iso={at} look="short" /> },
  {
    header: t('Last used'),
    cell: ({ last_used_at: at }) =>
      at === null ? <span className="muted">{t('Never')}</span> : <Time iso={at} look="short" />,
  },
  {
    header: t('Actions'),
    isActions: true,
    cell: (key) => (
      <ConfirmButton
        small
        icon="trash"
        text={t('Revoke')}
        aria-label={t('Revoke {name}', { name: key.name })}
        title={t('Revoke the key “{name}”?', { name: key.name })}
        action={t('Revoke the key')}
        onConfirm={() => revoke(key)}
        // A refusal may say that it was revoked elsewhere: then the list must not go on showing it.
        onClosed={() => void forgetKeys()}
      >
        <Revocation />
      </ConfirmButton>
    ),
  },
];

export default function KeysPage() {
  const [showSecret, secret] = useSecret();
  const keys = useQuery(keysQuery);
  const { mayWork } = useRights();
  const create = mayWork && (
    <DialogButton look="primary" icon="plus" text={t('Create a key')} title={t('Create a key')}>
      {(close) => <CreateKeyForm onClose={close} showSecret={showSecret} />}
    </DialogButton>
  );
  const columns = mayWork ? COLUMNS : COLUMNS.filter(({ isActions }) => !isActions);
  return (
    <Page
      title={t('Keys')}
      lead={t(
        'A program sends an API key with each request. Give every program a key of its own: then each can be revoked by itself.',
      )}
      actions={keys.data?.length === 0 ? undefined : create}
    >
      <Loaded query={keys} what={t('the keys')}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="key" title={t('There is no key yet')} action={create}>
              {t('Create one for the first program that makes PDFs with this account.')}
            </EmptyState>
          ) : (
            <Table label={t('API keys')} columns={columns} rows={rows} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {secret}
    </Page>
  );
}

type Scope = NonNullable<ApiKey['scopes']>[number];

/** Without `keys`: a program that makes PDFs need not make keys. */
const USUAL_SCOPES: readonly Scope[] = ['convert', 'read', 'history', 'webhooks'];

/** Each in a word, and what it allows. */
const SCOPES = {
  convert: [t('Convert'), t('Make, repeat and delete PDFs, and read those that it made')],
  read: [t('Read'), t('Read all conversions, their PDFs, credits and usage')],
  history: [t('History'), t('Read the history, with proofs and evidence')],
  webhooks: [t('Webhooks'), t('Set up webhooks, and read what they were sent')],
  templates: [t('Templates'), t('Save and delete templates')],
  keys: [t('Keys'), t('Create and revoke keys, and change the certificate')],
} as const satisfies Readonly<Record<Scope, readonly [string, string]>>;

const scopesText = ({ scopes }: ApiKey): string =>
  scopes === undefined ? t('Everything') : scopes.map((each) => SCOPES[each][0]).join(', ');

/** Its other bounds, one a line. */
function boundsOf(key: ApiKey): readonly string[] {
  const { addresses, rate_limit: rate, credit_limit: credits, credits_used: used } = key;
  return [
    ...(key.test ? [t('For tests')] : []),
    ...(addresses ? [t('From {value}', { value: addresses.join(', ') })] : []),
    ...(rate === undefined ? [] : [t('{rate} requests a minute', { rate })]),
    ...(credits === undefined
      ? []
      : [t('{value} of {credits} credits this month', { value: used ?? 0, credits })]),
  ];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The ends that the form offers, in days; 0: none. */
const ENDS = [
  { value: '0', label: t('Never') },
  { value: '30', label: t('In 30 days') },
  { value: '90', label: t('In 90 days') },
  { value: '365', label: t('In a year') },
] as const satisfies readonly Choice<string>[];

type End = (typeof ENDS)[number]['value'];

const endAt = (days: End, now: number): string | undefined =>
  days === '0' ? undefined : new Date(now + Number(days) * DAY_MS).toISOString();

/** The number in a field that may be left empty. */
function numberOf(textOf: TextOf, name: string): number | undefined {
  const text = textOf(name);
  return text === '' ? undefined : Number(text);
}

interface CreateKeyFormProps {
  readonly onClose: () => void;
  readonly showSecret: (secret: SecretProps) => void;
}

/** Asks for a name and what bounds the key. */
function CreateKeyForm({ onClose, showSecret }: CreateKeyFormProps) {
  const [scopes, setScopes] = useState<readonly Scope[]>(USUAL_SCOPES);
  const [end, setEnd] = useState<End>('0');
  const [isTest, setTest] = useState(false);
  const create = async (textOf: TextOf) => {
    const addresses = textOf('addresses')
      .split(/[\s,;]+/)
      .filter((each) => each !== '');
    const body = {
      name: textOf('name'),
      scopes: [...scopes],
      ...given({
        expires_at: endAt(end, Date.now()),
        addresses: addresses.length > 0 ? addresses : undefined,
        rate_limit: numberOf(textOf, 'rate_limit'),
        credit_limit: numberOf(textOf, 'credit_limit'),
        test: isTest || undefined,
      }),
    };
    const { name, key } = await dataOf(api.POST('/api/v1/api-keys/', { body }));
    showSecret({
      title: t('The key “{name}”', { name }),
      secret: key,
      what: t('key'),
      children: t('Copy the key now and keep it where secrets are kept.'),
    });
    onClose();
    await forgetKeys();
  };
  return (
    <SendForm action={t('Create a key')} onCancel={onClose} keeps onSend={create}>
      <TextField
        label={t('Name')}
        name="name"
        hint={t('The program that will use the key, such as build server.')}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <CheckboxGroup
        label={t('It may')}
        name="scopes"
        choices={Object.entries(SCOPES).map(([value, [, label]]) => ({
          value: value as Scope,
          label,
        }))}
        value={scopes}
        onChange={setScopes}
      />
      <Select
        label={t('It expires')}
        name="expires_at"
        choices={ENDS}
        value={end}
        onChange={setEnd}
      />
      <details>
        <summary>{t('Addresses, limits and tests')}</summary>
        <div className="stack">
          <TextField
            label={t('Only from these addresses')}
            name="addresses"
            hint={t(
              'Addresses or networks, one a line, such as 203.0.113.0/24. Empty: from everywhere.',
            )}
            rows={2}
            mono
            autoComplete="off"
          />
          <NumberField
            label={t('Requests a minute')}
            name="rate_limit"
            hint={t('Empty: as many as the account may send.')}
            minValue={1}
          />
          <NumberField
            label={t('Credits a month')}
            name="credit_limit"
            hint={t('Empty: all that the account has.')}
            minValue={1}
          />
          <Checkbox isSelected={isTest} onChange={setTest}>
            {t('For tests: nothing is charged, and each page has a watermark')}
          </Checkbox>
        </div>
      </details>
    </SendForm>
  );
}
