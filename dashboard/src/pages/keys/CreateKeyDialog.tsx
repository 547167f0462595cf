import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Checkbox, CheckboxGroup } from '../../ui/Checkbox.tsx';
import { Dialog, SecretDialog } from '../../ui/Dialog.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { Select } from '../../ui/Select.tsx';
import { SendForm, TextField, type TextOf } from '../../ui/forms.tsx';
import { type End, endAt, ENDS, type Scope, SCOPES, USUAL_SCOPES } from './words.ts';
import { t } from '../../words/words.ts';

type CreatedKey = components['schemas']['CreatedApiKey'];

interface CreateKeyDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onCreated: () => Promise<void>;
}

/** Asks for a name and what bounds the key, then shows the key, which the service never shows again. */
export function CreateKeyDialog({ isOpen, onClose, onCreated }: CreateKeyDialogProps) {
  const [created, setCreated] = useState<CreatedKey>();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  if (created !== undefined) {
    return (
      <SecretDialog
        title={t('The key {name}', { name: created.name })}
        secret={created.key}
        what="key"
        onCopied={close}
      >
        {t('Copy the key now and keep it where secrets are kept.')}
      </SecretDialog>
    );
  }
  return (
    <Dialog title={t('Create a key')} isOpen={isOpen} onClose={close}>
      <CreateKeyForm
        onCancel={close}
        onCreated={async (key) => {
          setCreated(key);
          await onCreated();
        }}
      />
    </Dialog>
  );
}

/** The number in a field that may be left empty. */
function numberOf(textOf: TextOf, name: string): number | undefined {
  const text = textOf(name);
  return text === '' ? undefined : Number(text);
}

interface CreateKeyFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (key: CreatedKey) => Promise<void>;
}

function CreateKeyForm({ onCancel, onCreated }: CreateKeyFormProps) {
  const [scopes, setScopes] = useState<readonly Scope[]>(USUAL_SCOPES);
  const [end, setEnd] = useState<End>('0');
  const [isTest, setTest] = useState(false);
  const create = async (textOf: TextOf) => {
    const addresses = textOf('addresses')
      .split(/[\s,;]+/)
      .filter((each) => each !== '');
    const expires = endAt(end, Date.now());
    const [rate, credits] = [numberOf(textOf, 'rate_limit'), numberOf(textOf, 'credit_limit')];
    const body = {
      name: textOf('name'),
      scopes: [...scopes],
      ...(expires !== undefined && { expires_at: expires }),
      ...(addresses.length > 0 && { addresses }),
      ...(rate !== undefined && { rate_limit: rate }),
      ...(credits !== undefined && { credit_limit: credits }),
      ...(isTest && { test: true }),
    };
    await onCreated(await dataOf(api.POST('/api/v1/api-keys/', { body })));
  };
  return (
    <SendForm action={t('Create a key')} onCancel={onCancel} keeps onSend={create}>
      <TextField
        label={t('Name')}
        name="name"
        hint={t('The program that will use the key, such as build server.')}
        maxLength={100}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <CheckboxGroup
        label={t('It may')}
        name="scopes"
        choices={SCOPES}
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
