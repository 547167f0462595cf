import { type FormEvent, useRef, useState } from 'react';
import { Form } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { useOnEnd } from './live.ts';
import styles from './operations.module.css';
import { type AccountDetails, forgetAccounts, operatorData } from './operator-api.ts';
import { useSending } from './useSending.ts';

const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

interface HoldSectionProps {
  readonly account: AccountDetails;
}

async function release(id: string): Promise<void> {
  await operatorData(
    api.DELETE('/api/v1/operator/accounts/{id}/hold/', { params: { path: { id } } }),
  );
  announce('The hold is released.');
  // Not awaited: the dialog gives the focus back to its button, which then goes.
  void forgetAccounts();
}

export function HoldSection({ account: { id, email, hold } }: HoldSectionProps) {
  const [isReleasing, setReleasing] = useState(false);
  const state = useRef<HTMLDivElement>(null);
  useOnEnd(hold !== null, () => state.current?.focus());
  return (
    <Section
      title="Hold"
      lead="While a hold is in force, no document of the account is deleted and the account cannot be erased."
      actions={
        hold !== null && <Button onPress={() => setReleasing(true)}>Release the hold</Button>
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
      <ConfirmDialog
        title={`Release the hold of ${email}?`}
        action="Release the hold"
        isOpen={isReleasing}
        onClose={() => setReleasing(false)}
        onConfirm={() => release(id)}
      >
        <p>
          Documents whose time of storage has passed are deleted within a minute, and the account
          can be erased. What is deleted cannot be brought back.
        </p>
      </ConfirmDialog>
    </Section>
  );
}

interface HoldFormProps {
  readonly id: string;
  readonly isHeld: boolean;
}

function HoldForm({ id, isHeld }: HoldFormProps) {
  const [end, setEnd] = useState('');
  const { isPending, errorOf, otherError, clear, send } = useSending(['until']);
  const place = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void send(async () => {
      const body = end === '' ? {} : { until: new Date(end).toISOString() };
      const params = { path: { id } };
      await operatorData(api.POST('/api/v1/operator/accounts/{id}/hold/', { params, body }));
      announce('The hold is placed.');
      setEnd('');
      await forgetAccounts();
    });
  };
  return (
    <Form className={styles.line} data-top onSubmit={place}>
      <TextField
        label="End of the hold"
        type="datetime-local"
        hint={`In the time of ${ZONE}. Without one, the hold lasts until it is released.`}
        value={end}
        onChange={(next) => {
          clear();
          setEnd(next);
        }}
        error={errorOf('until')}
      />
      <Button type="submit" isPending={isPending}>
        {isHeld ? 'Replace the hold' : 'Place a hold'}
      </Button>
      {otherError !== undefined && <Notice kind="danger">{otherError}</Notice>}
    </Form>
  );
}
