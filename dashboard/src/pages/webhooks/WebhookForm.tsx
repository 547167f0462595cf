import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { forgetWebhooks, type Webhook, type WebhookType } from '../../api/webhooks.ts';
import type { ButtonProps } from '../../ui/Button.tsx';
import { CheckboxGroup } from '../../ui/choices.tsx';
import { ConfirmButton, type SecretProps, useSecret } from '../../ui/Dialog.tsx';
import { SendForm, TextField } from '../../ui/forms.tsx';
import { t } from '../../words/words.ts';
import { typeText, WEBHOOK_TYPES } from './words.tsx';

const CHOICES = WEBHOOK_TYPES.map((value) => ({ value, label: typeText(value) }));

interface WebhookFormProps {
  /** The endpoint to change; a new one without it. */
  readonly webhook?: Webhook;
  readonly onClose: () => void;
  /** Shows the secret of a new one. */
  readonly showSecret?: (secret: SecretProps) => void;
}

/** Asks for what an endpoint has, in a dialog. */
export function WebhookForm({ webhook, onClose, showSecret }: WebhookFormProps) {
  const [types, setTypes] = useState<readonly WebhookType[]>(webhook?.types ?? WEBHOOK_TYPES);
  const save = async (url: string, description: string) => {
    if (webhook === undefined) {
      const body = { url, types: [...types], ...(description !== '' && { description }) };
      const { secret } = await dataOf(api.POST('/api/v1/webhooks/', { body }));
      showSecret?.(signingSecret(secret));
    } else {
      const params = { path: { id: webhook.id } };
      const body = { url, types: [...types], description };
      await dataOf(api.PATCH('/api/v1/webhooks/{id}/', { params, body }));
    }
    onClose();
    await forgetWebhooks();
  };
  return (
    <SendForm
      action={webhook === undefined ? t('Add the endpoint') : t('Save')}
      onCancel={onClose}
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
        autoComplete="off"
      />
    </SendForm>
  );
}

/** Shows a secret once, and says what it is for. */
const signingSecret = (secret: string): SecretProps => ({
  title: t('The signing secret'),
  secret,
  what: t('secret'),
  children: t(
    'Copy the secret now and give it to the program that receives the deliveries. With it, the program checks that a delivery comes from this service and was not changed on its way.',
  ),
});

interface NewSecretProps extends Pick<ButtonProps, 'look' | 'icon'> {
  readonly text: string;
  /** There is a secret, which goes on signing for a day. */
  readonly isReplaced: boolean;
  readonly make: () => Promise<{ readonly secret: string }>;
  readonly onMade: () => Promise<void>;
}

/** Asks, makes a secret and shows it once. */
export function NewSecret({ text, isReplaced, make, onMade, ...button }: NewSecretProps) {
  const [showSecret, secret] = useSecret();
  return (
    <>
      <ConfirmButton
        {...button}
        text={text}
        title={isReplaced ? t('Replace the signing secret?') : t('Make a signing secret?')}
        action={isReplaced ? t('Replace the secret') : t('Make the secret')}
        actionLook="primary"
        onConfirm={async () => {
          const made = await make();
          showSecret(signingSecret(made.secret));
          await onMade();
        }}
      >
        {isReplaced ? (
          <p>
            {t(
              'The new secret is shown once. For 24 hours each delivery carries two signatures, one of each secret. Give your program the new one within that time, and nothing is refused.',
            )}
          </p>
        ) : (
          <p>{t('The secret is shown once. It signs what is sent from then on.')}</p>
        )}
      </ConfirmButton>
      {secret}
    </>
  );
}
