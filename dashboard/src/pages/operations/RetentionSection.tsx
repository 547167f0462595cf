/** How long the documents of an account are kept. */
import { api, dataOf } from '../../api/client.ts';
import { NumberField } from '../../ui/choices.tsx';
import { Section } from '../../ui/Page.tsx';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { type AccountDetails, forgetAccounts } from './operator-api.ts';
import { ReasonDialog, ReasonField, reasonIn } from './reason.tsx';
import { LOCALE, t } from '../../words/words.ts';

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** A time in its largest whole unit. */
function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds >= each && seconds % each === 0) ?? [
    'second',
    1,
  ];
  const form = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(LOCALE, form).format(seconds / size);
}

export function retentionText(seconds: number | null): string {
  if (seconds === null) return t('As the service keeps documents');
  return seconds === 0
    ? t('Until the first download')
    : t('At most {seconds}', { seconds: spanText(seconds) });
}

const path = (id: string) => ({ path: { id } });

async function reset(id: string, textOf: TextOf): Promise<void> {
  const params = { ...path(id), query: reasonIn(textOf) };
  await dataOf(api.DELETE('/api/v1/operator/accounts/{id}/retention/', { params }));
  announce(t('New documents are kept as long as those of other accounts.'));
  // Not awaited: the dialog gives the focus back to its button, which then goes.
  void forgetAccounts();
}

export function RetentionSection({ account }: { readonly account: AccountDetails }) {
  const { id, email, retention_seconds: current } = account;
  const change = async (textOf: TextOf) => {
    const seconds = Number(textOf('retention_seconds'));
    const body = { retention_seconds: seconds, ...reasonIn(textOf) };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/retention/', { params: path(id), body }));
    await forgetAccounts();
    return seconds === 0
      ? t('New documents are kept until their first download.')
      : t('New documents are kept for {seconds} at most.', { seconds: spanText(seconds) });
  };
  return (
    <Section
      title={t('Retention')}
      lead={t(
        'How long new documents of the account are kept. Each request may ask for less. What was requested before is kept as it was.',
      )}
      actions={
        current !== null && (
          <ReasonDialog
            text={t('Use the service’s retention')}
            title={t('Use the service’s retention for {email}?', { email })}
            action={t('Use the service’s retention')}
            look="primary"
            onSend={(textOf) => reset(id, textOf)}
          >
            <p>
              {t(
                'New documents of the account are then kept as long as the service keeps those of other accounts.',
              )}
            </p>
          </ReasonDialog>
        )
      }
    >
      <p>
        {current === null
          ? t(
              'The account has no retention of its own: its documents are kept as long as the service keeps those of other accounts.',
            )
          : `${retentionText(current)}.`}
      </p>
      <SendForm action={t('Set the retention')} look="secondary" layout="narrow" onSend={change}>
        <NumberField
          label={t('Seconds to keep new documents')}
          name="retention_seconds"
          minValue={0}
          hint={t('86,400 are a day. With 0, a document goes with its first complete download.')}
          isRequired
        />
        <ReasonField />
      </SendForm>
    </Section>
  );
}
