import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { forgetWebhooks, type Webhook, type WebhookType } from '../../api/webhooks.ts';
import { CheckboxGroup } from '../../ui/Checkbox.tsx';
import { SendForm, TextField } from '../../ui/forms.tsx';
import { typeText, WEBHOOK_TYPES } from './words.tsx';
import { t } from '../../words/words.ts';

const CHOICES = WEBHOOK_TYPES.map((value) => ({ value, label: typeText(value) }));

export type CreatedWebhook = Webhook & { readonly secret: string };

interface WebhookFormProps {
  /** The endpoint to change; a new one without it. */
  readonly webhook?: Webhook;
  readonly onCancel: () => void;
  /** @param created the new endpoint, with its secret */
  readonly onSaved: (created?: CreatedWebhook) => void;
}

/** Asks for what an endpoint has, in a dialog. */
export function WebhookForm({ webhook, onCancel, onSaved }: WebhookFormProps) {
  const [types, setTypes] = useState<readonly WebhookType[]>(webhook?.types ?? WEBHOOK_TYPES);
  const save = async (url: string, description: string) => {
    if (webhook === undefined) {
      const body = { url, types: [...types], ...(description !== '' && { description }) };
      onSaved(await dataOf(api.POST('/api/v1/webhooks/', { body })));
    } else {
      const params = { path: { id: webhook.id } };
      const body = { url, types: [...types], description };
      await dataOf(api.PATCH('/api/v1/webhooks/{id}/', { params, body }));
      onSaved();
    }
    await forgetWebhooks();
  };
  return (
    <SendForm
      action={webhook === undefined ? t('Add the endpoint') : t('Save')}
      onCancel={onCancel}
      keeps
      onSend={async (textOf) => {
        await save(textOf('url').trim(), textOf('description').trim());
        return webhook && t('The endpoint is changed.');
      }}
    >
      <TextField
        label="URL"
        name="url"
        type="text"
        inputMode="url"
        hint={t('The https address of your program that receives what is sent, by POST.')}
        defaultValue={webhook?.url ?? ''}
        maxLength={2048}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <CheckboxGroup
        label={t('Send when')}
        name="types"
        choices={CHOICES}
        value={types}
        onChange={setTypes}
      />
      <TextField
        label={t('Note')}
        name="description"
        hint={t('A name for it, such as the accounting system. Optional.')}
        defaultValue={webhook?.description ?? ''}
        maxLength={200}
        autoComplete="off"
      />
    </SendForm>
  );
}
