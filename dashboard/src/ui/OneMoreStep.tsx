/** Stand for pages that are closed to who is signed in. */
import { useQuery } from '@tanstack/react-query';
import { passkeysQuery } from '../api/passkeys.ts';
import { authenticatorQuery, usePerson } from '../api/people.ts';
import { offersQuery } from '../api/without-sign-in.ts';
import { Button, ButtonAnchor, ButtonLink, type ButtonProps } from './Button.tsx';
import { EmptyState, Loaded, Page } from './Page.tsx';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

interface OneMoreStepProps {
  readonly lacking: 'second_factor' | 'oidc';
  /** Signs out, to sign in again. */
  readonly again: Omit<ButtonProps, 'children'>;
}

/** Until the person has proved what the account requires at sign-in. */
export function OneMoreStep({ lacking, again }: OneMoreStepProps) {
  return (
    <Page title={t('One more step')}>
      {lacking === 'oidc' ? <WithProvider /> : <WithSecondFactor again={again} />}
    </Page>
  );
}

function WithProvider() {
  const { provider = null } = useQuery(offersQuery).data ?? {};
  const account = usePerson().data?.accounts.find(({ current }) => current)?.id ?? '';
  return (
    <EmptyState
      icon="shield"
      title={t('This account needs a sign-in with its identity provider')}
      action={
        provider !== null && (
          <ButtonAnchor look="primary" href={`/dashboard/oidc/start?account=${account}`}>
            {rich('Sign in with {provider}', { provider })}
          </ButtonAnchor>
        )
      }
    >
      {t('An owner has decided so. All pages open when you have signed in with it.')}
    </EmptyState>
  );
}

function WithSecondFactor({ again }: Pick<OneMoreStepProps, 'again'>) {
  const passkeys = useQuery(passkeysQuery).data;
  return (
    <Loaded query={useQuery(authenticatorQuery)} what={t('the second factor')}>
      {({ since }) => {
        const isThere = since !== null || (passkeys?.length ?? 0) > 0;
        return (
          <EmptyState
            icon="shield"
            title={t('This account needs more than a password')}
            action={
              isThere ? (
                <Button look="primary" {...again}>
                  {t('Sign in again')}
                </Button>
              ) : (
                <ButtonLink to="/account" look="primary">
                  {t('Set it up')}
                </ButtonLink>
              )
            }
          >
            {isThere
              ? t('You signed in before it did. Sign in again, with your second factor.')
              : t(
                  'Add a passkey, or a code from an app on your telephone. It takes about a minute. All pages open then.',
                )}
          </EmptyState>
        );
      }}
    </Loaded>
  );
}

/** For a person who only reads. */
export function NotForAuditors() {
  return (
    <Page title={t('For owners and members')}>
      <EmptyState
        icon="document"
        title={t('Auditors make no documents')}
        action={
          <ButtonLink to="/conversions" look="primary">
            {t('Look at the conversions')}
          </ButtonLink>
        }
      >
        {t('You read what others have made. Ask an owner of the account if you need another role.')}
      </EmptyState>
    </Page>
  );
}
