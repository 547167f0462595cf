import { useRef } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { useOnEnd } from './live.ts';
import styles from './operations.module.css';
import { type AccountDetails, forgetAccounts } from './operator-api.ts';

const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

async function release(id: string): Promise<void> {
  await dataOf(api.DELETE('/api/v1/operator/accounts/{id}/hold/', { params: { path: { id } } }));
  announce('The hold is released.');
  // Not awaited: the dialog gives the focus back to its button, which then goes.
  void forgetAccounts();
}

export function HoldSection({
  account: { id, email, hold },
}: {
  readonly account: AccountDetails;
}) {
  const state = useRef<HTMLDivElement>(null);
  useOnEnd(hold !== null, () => state.current?.focus());
  return (
    <Section
      title="Hold"
      lead="While a hold is in force, no document of the account is deleted and the account cannot be erased."
      actions={
        hold !== null && (
          <ConfirmButton
            text="Release the hold"
            title={`Release the hold of ${email}?`}
            action="Release the hold"
            onConfirm={() => release(id)}
          >
            <p>
              Documents whose time of storage has passed are deleted within a minute, and the
              account can be erased. What is deleted cannot be brought back.
            </p>
          </ConfirmButton>
        )
      }
    >
      <div ref={state} tabIndex={-1} className={styles.focused}>
        {hold === null ? (
          <p>The account is under no hold.</p>
        ) : (
          <Notice kind="info">
            A hold is in force since <Time iso={hold.placed_at} />.{' '}
            {hold.until === null ? (
              'It lasts until it is released.'
            ) : (
              <>
                It ends by itself on <Time iso={hold.until} />.
              </>
            )}
          </Notice>
        )}
      </div>
      <HoldForm id={id} isHeld={hold !== null} />
    </Section>
  );
}

interface HoldFormProps {
  readonly id: string;
  readonly isHeld: boolean;
}

function HoldForm({ id, isHeld }: HoldFormProps) {
  return (
    <SendForm
      action={isHeld ? 'Replace the hold' : 'Place a hold'}
      look="secondary"
      layout="line"
      onSend={async (textOf) => {
        const end = textOf('until');
        const body = end === '' ? {} : { until: new Date(end).toISOString() };
        const params = { path: { id } };
        await dataOf(api.POST('/api/v1/operator/accounts/{id}/hold/', { params, body }));
        await forgetAccounts();
        return 'The hold is placed.';
      }}
    >
      <TextField
        label="End of the hold"
        name="until"
        type="datetime-local"
        hint={`In the time of ${ZONE}. Without one, the hold lasts until it is released.`}
      />
    </SendForm>
  );
}
