import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { api, dataOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { errorText } from '../../ui/ErrorState.tsx';
import { formText } from '../../ui/form-text.ts';
import { Notice } from '../../ui/Notice.tsx';
import { TextField } from '../../ui/TextField.tsx';
import styles from './KeysPage.module.css';

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
      <Dialog title={`The key ${created.name}`} isOpen={isOpen} onClose={close} keep>
        <Notice kind="warning">
          Copy the key now and keep it where secrets are kept. It is shown only this once.
        </Notice>
        <Code code={created.key} copyLabel="Copy the key" wrap />
        <DialogActions>
          <Button look="primary" onPress={close}>
            I have copied the key
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <Dialog title="Create a key" isOpen={isOpen} onClose={close}>
      <NameForm
        onCancel={close}
        onCreated={async (key) => {
          setCreated(key);
          await onCreated();
        }}
      />
    </Dialog>
  );
}

interface NameFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (key: CreatedKey) => Promise<void>;
}

function NameForm({ onCancel, onCreated }: NameFormProps) {
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const nameError = failure instanceof ApiError ? failure.details['name']?.join(' ') : undefined;
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = formText(new FormData(event.currentTarget), 'name');
    setPending(true);
    setFailure(undefined);
    try {
      await onCreated(await dataOf(api.POST('/api/v1/api-keys/', { body: { name } })));
    } catch (error) {
      setFailure(error);
    } finally {
      setPending(false);
    }
  };
  return (
    <Form className={styles.form} onSubmit={(event) => void create(event)}>
      {failure !== undefined && nameError === undefined && (
        <Notice kind="danger">{errorText(failure)}</Notice>
      )}
      <TextField
        label="Name"
        name="name"
        hint="The program that will use the key, such as build server."
        error={nameError}
        onChange={() => setFailure(undefined)}
        maxLength={100}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <DialogActions>
        <Button onPress={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isPending={isPending}>
          Create a key
        </Button>
      </DialogActions>
    </Form>
  );
}
