/** Which mails come: those of the person who is signed in, and, for owners, when credits are low. */
import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import { queryClient } from '../../api/queries.ts';
import type { components } from '../../api/schema.d.ts';
import { Checkbox } from '../../ui/Checkbox.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { SettingSection } from './SettingSection.tsx';

type Change = components['schemas']['MailsChange'];

const MAILS = '/api/v1/account/mails/';
const LOW = '/api/v1/account/low-credits/';
const KEY = ['mails'];

const KINDS: readonly { readonly kind: keyof Change; readonly label: string }[] = [
  { kind: 'credits_low', label: 'Credits of an account that you own are low' },
  { kind: 'webhook_disabled', label: 'A webhook endpoint of such an account was switched off' },
  { kind: 'key_expiring', label: 'An API key that you made expires in 7 days' },
];

async function choose(body: Change): Promise<void> {
  queryClient.setQueryData(KEY, await dataOf(api.PATCH(MAILS, { body })));
  announce('Your mails are changed.');
}

function lowText(below: number | null): string {
  if (below === null) return 'Less than a tenth of the last grant is left';
  return below === 0 ? 'Never' : `Fewer than ${formatNumber(below)} are left`;
}

export function MailSections() {
  const { isOwner } = useRights();
  const mails = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => dataOf(api.GET(MAILS, { signal })),
  });
  return (
    <>
      <Section
        title="Mails that you get"
        lead="In all your accounts. Mails about your sign-in always come."
      >
        <Loaded query={mails} what="your mails" lines={3}>
          {(choices) => (
            <div className="stack">
              {!choices.sends_mail && (
                <Notice kind="info">This service has no mail server: nothing is sent now.</Notice>
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
          title="Low credits"
          lead="Owners get a mail once each time that the credits fall below a limit."
          what="the limit"
          queryKey={['low-credits']}
          ask={async (signal) => (await dataOf(api.GET(LOW, { signal }))).below}
          show={(below) => <Facts facts={{ 'A mail comes when': lowText(below) }} />}
          lines={1}
          removal={{
            action: 'Remove the limit',
            title: 'Remove the limit?',
            effect: 'Owners get a mail when less than a tenth of the last grant is left.',
            remove: () => dataOf(api.DELETE(LOW)),
            done: 'Owners get a mail when less than a tenth of the last grant is left.',
          }}
          action="Set the limit"
          onSend={async (textOf) => {
            const body = { below: Number(textOf('below')) };
            const { below } = await dataOf(api.PUT(LOW, { body }));
            return `A mail comes when: ${lowText(below)}.`;
          }}
        >
          <TextField
            label="Credits"
            name="below"
            inputMode="numeric"
            pattern="[0-9]{1,15}"
            hint="A whole number; 0: never."
            isRequired
          />
        </SettingSection>
      )}
    </>
  );
}
