import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Dialog, SecretDialog } from '../../ui/Dialog.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { PLAN_CHOICES, type Plan } from '../../ui/plans.ts';
import { Select } from '../../ui/Select.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { forgetAccounts } from './operator-api.ts';

type OpenedAccount = components['schemas']['OpenedAccount'];

/** The shortest that the service takes. */
const SHORTEST_PASSWORD = 12;

interface OpenAccountDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Asks for the account, then shows the password where the service made it: it is never shown again. */
export function OpenAccountDialog({ isOpen, onClose }: OpenAccountDialogProps) {
  const navigate = useNavigate();
  const [opened, setOpened] = useState<OpenedAccount>();
  const goTo = async ({ id }: OpenedAccount) => {
    setOpened(undefined);
    onClose();
    await navigate({ to: '/operations/accounts/$id', params: { id } });
  };
  if (opened?.password !== undefined) {
    return (
      <SecretDialog
        title="The account is open"
        secret={opened.password}
        what="password"
        onCopied={() => void goTo(opened)}
      >
        Copy the password of {opened.email} now and pass it on safely.
      </SecretDialog>
    );
  }
  return (
    <Dialog title="Open an account" isOpen={isOpen} onClose={onClose}>
      <OpeningForm
        onCancel={onClose}
        onOpened={async (account) => {
          announce(`The account of ${account.email} is open.`);
          if (account.password === undefined) await goTo(account);
          else setOpened(account);
          await forgetAccounts();
        }}
      />
    </Dialog>
  );
}

interface OpeningFormProps {
  readonly onCancel: () => void;
  readonly onOpened: (account: OpenedAccount) => Promise<void>;
}

function OpeningForm({ onCancel, onOpened }: OpeningFormProps) {
  const [plan, setPlan] = useState<Plan>('free');
  return (
    <SendForm
      action="Open the account"
      onCancel={onCancel}
      onSend={async (textOf) => {
        const [credits, password] = [textOf('credits'), textOf('password')];
        const body = {
          email: textOf('email'),
          plan,
          ...(credits !== '' && { credits: Number(credits) }),
          ...(password !== '' && { password }),
        };
        await onOpened(await dataOf(api.POST('/api/v1/operator/accounts/', { body })));
      }}
    >
      <TextField
        label="Email"
        name="email"
        inputMode="email"
        maxLength={320}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <Select label="Plan" name="plan" choices={PLAN_CHOICES} value={plan} onChange={setPlan} />
      <NumberField
        label="Credits to begin with"
        name="credits"
        hint="Without a number, as many as new accounts get."
        minValue={0}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        hint={`At least ${SHORTEST_PASSWORD} characters. Without one, the service makes it and shows it once.`}
        minLength={SHORTEST_PASSWORD}
        autoComplete="new-password"
      />
    </SendForm>
  );
}
