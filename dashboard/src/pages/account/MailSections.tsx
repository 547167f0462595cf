/** Which mails come: those of the person who is signed in, and, for owners, when credits are low. */
import { useQuery } from '@tanstack/react-query';
import { answerQuery, api, dataOf, queryClient } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import type { components } from '../../api/schema.d.ts';
import { Checkbox } from '../../ui/choices.tsx';
import { formatNumber } from '../../ui/format.ts';
import { TextField } from '../../ui/forms.tsx';
import { Loaded, Notice, Section } from '../../ui/Page.tsx';
import { Facts } from '../../ui/records.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { t } from '../../words/words.ts';
import { SettingSection } from './settings.tsx';

type Change = components['schemas']['MailsChange'];

const MAILS = '/api/v1/account/mails/';
const LOW = '/api/v1/account/low-credits/';
const KEY = ['mails'];

const KINDS: readonly { readonly kind: keyof Change; readonly label: string }[] = [
  { kind: 'credits_low', label: t('Credits of an account that you own are low') },
  { kind: 'webhook_disabled', label: t('A webhook endpoint of such an account was switched off') },
  { kind: 'key_expiring', label: t('An API key that you made expires in 7 days') },
];

async function choose(body: Change): Promise<void> {
  queryClient.setQueryData(KEY, await dataOf(api.PATCH(MAILS, { body })));
  announce(t('Your mails are changed.'));
}

function lowText(below: number | null): string {
  if (below === null) return t('Less than a tenth of the last grant is left');
  return below === 0
    ? t('Never')
    : t('Fewer than {below} are left', { below: formatNumber(below) });
}

export function MailSections() {
  const { isOwner } = useRights();
  const mails = useQuery(answerQuery(KEY, MAILS));
  return (
    <>
      <Section
        title={t('Mails that you get')}
        lead={t('In all your accounts. Mails about your sign-in always come.')}
      >
        <Loaded query={mails} what={t('your mails')} lines={3}>
          {(choices) => (
            <div className="stack">
              {!choices.sends_mail && (
                <Notice kind="info">
                  {t('This service has no mail server: nothing is sent now.')}
                </Notice>
              )}
              {KINDS.map(({ kind, label }) => (
                <Checkbox
                  key={kind}
                  isSelected={choices[kind]}
                  onChange={(isOn) => void choose({ [kind]: isOn })}
                >
                  {label}
                </Checkbox>
              ))}
            </div>
          )}
        </Loaded>
      </Section>
      {isOwner && (
        <SettingSection
          title={t('Low credits')}
          lead={t('Owners get a mail once each time that the credits fall below a limit.')}
          what={t('the limit')}
          queryKey={['low-credits']}
          ask={async (signal) => (await dataOf(api.GET(LOW, { signal }))).below}
          show={(below) => <Facts facts={{ [t('A mail comes when')]: lowText(below) }} />}
          lines={1}
          removal={{
            action: t('Remove the limit'),
            title: t('Remove the limit?'),
            effect: t('Owners get a mail when less than a tenth of the last grant is left.'),
            send: async () => {
              await dataOf(api.DELETE(LOW));
              return t('Owners get a mail when less than a tenth of the last grant is left.');
            },
          }}
          acts={[
            {
              action: t('Set the limit'),
              fields: (
                <TextField
                  label={t('Credits')}
                  name="below"
                  inputMode="numeric"
                  pattern="[0-9]{1,15}"
                  hint={t('A whole number; 0: never.')}
                  isRequired
                />
              ),
              send: async (textOf) => {
                const body = { below: Number(textOf('below')) };
                const { below } = await dataOf(api.PUT(LOW, { body }));
                return t('A mail comes when: {below}.', { below: lowText(below) });
              },
            },
          ]}
        />
      )}
    </>
  );
}
