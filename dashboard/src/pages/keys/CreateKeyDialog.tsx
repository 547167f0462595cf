import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Dialog, SecretDialog } from '../../ui/Dialog.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';

type CreatedKey = components['schemas']['CreatedApiKey'];

interface CreateKeyDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onCreated: () => Promise<void>;
}

/** Asks for a name, then shows the key, which the service never shows again. */
export function CreateKeyDialog({ isOpen, onClose, onCreated }: CreateKeyDialogProps) {
  const [created, setCreated] = useState<CreatedKey>();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  if (created !== undefined) {
    return (
      <SecretDialog
        title={`The key ${created.name}`}
        secret={created.key}
        what="key"
        onCopied={close}
      >
        Copy the key now and keep it where secrets are kept.
      </SecretDialog>
    );
  }
  return (
    <Dialog title="Create a key" isOpen={isOpen} onClose={close}>
      <SendForm
        action="Create a key"
        onCancel={close}
        onSend={async (textOf) => {
          const body = { name: textOf('name') };
          setCreated(await dataOf(api.POST('/api/v1/api-keys/', { body })));
          await onCreated();
        }}
      >
        <TextField
          label="Name"
          name="name"
          hint="The program that will use the key, such as build server."
          maxLength={100}
          autoComplete="off"
          isRequired
          autoFocus
        />
      </SendForm>
    </Dialog>
  );
}
