/** How long the documents of an account are kept. */
import { api, dataOf } from '../../api/client.ts';
import { counted } from '../../ui/format.ts';
import { NumberField } from '../../ui/NumberField.tsx';
import { Section } from '../../ui/Page.tsx';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { type AccountDetails, forgetAccounts } from './operator-api.ts';
import { ReasonDialog, ReasonField, reasonIn } from './reason.tsx';

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
  return counted(seconds / size, unit);
}

export function retentionText(seconds: number | null): string {
  if (seconds === null) return 'As the service keeps documents';
  return seconds === 0 ? 'Until the first download' : `At most ${spanText(seconds)}`;
}

const path = (id: string) => ({ path: { id } });

async function reset(id: string, textOf: TextOf): Promise<void> {
  const params = { ...path(id), query: reasonIn(textOf) };
  await dataOf(api.DELETE('/api/v1/operator/accounts/{id}/retention/', { params }));
  announce('New documents are kept as long as those of other accounts.');
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
      ? 'New documents are kept until their first download.'
      : `New documents are kept for ${spanText(seconds)} at most.`;
  };
  return (
    <Section
      title="Retention"
      lead="How long new documents of the account are kept. Each request may ask for less. What was requested before is kept as it was."
      actions={
        current !== null && (
          <ReasonDialog
            text="Use the service’s retention"
            title={`Use the service’s retention for ${email}?`}
            action="Use the service’s retention"
            look="primary"
            onSend={(textOf) => reset(id, textOf)}
          >
            <p>
              New documents of the account are then kept as long as the service keeps those of other
              accounts.
            </p>
          </ReasonDialog>
        )
      }
    >
      <p>
        {current === null
          ? 'The account has no retention of its own: its documents are kept as long as the service keeps those of other accounts.'
          : `${retentionText(current)}.`}
      </p>
      <SendForm action="Set the retention" look="secondary" layout="narrow" onSend={change}>
        <NumberField
          label="Seconds to keep new documents"
          name="retention_seconds"
          minValue={0}
          hint="86,400 are a day. With 0, a document goes with its first complete download."
          isRequired
        />
        <ReasonField />
      </SendForm>
    </Section>
  );
}
