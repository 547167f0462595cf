import { useState } from 'react';
import type { ButtonProps } from '../../ui/Button.tsx';
import { ConfirmButton, SecretDialog } from '../../ui/Dialog.tsx';
import { t } from '../../words/words.ts';

interface SigningSecretProps {
  readonly secret: string;
  readonly onCopied: () => void;
}

/** Shows a secret once, and says what it is for. */
export function SigningSecret({ secret, onCopied }: SigningSecretProps) {
  return (
    <SecretDialog title={t('The signing secret')} secret={secret} what="secret" onCopied={onCopied}>
      {t(
        'Copy the secret now and give it to the program that receives the deliveries. With it, the program checks that a delivery comes from this service and was not changed on its way.',
      )}
    </SecretDialog>
  );
}

interface NewSecretProps extends Pick<ButtonProps, 'look' | 'icon'> {
  readonly text: string;
  /** There is a secret, which goes on signing for a day. */
  readonly isReplaced: boolean;
  readonly make: () => Promise<{ readonly secret: string }>;
  readonly onMade: () => Promise<void>;
}

/** Asks, makes a secret and shows it once. */
export function NewSecret({ text, isReplaced, make, onMade, ...button }: NewSecretProps) {
  const [secret, setSecret] = useState<string>();
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
          setSecret(made.secret);
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
      {secret !== undefined && (
        <SigningSecret secret={secret} onCopied={() => setSecret(undefined)} />
      )}
    </>
  );
}
