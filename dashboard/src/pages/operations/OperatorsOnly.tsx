import type { ReactNode } from 'react';
import { usePerson } from '../../api/people.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { EmptyState, Loaded, Page } from '../../ui/Page.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { useOnEnd } from '../../ui/acts.tsx';

/** Others than operators read in the place of the page that it is not for them, also those who are not operators any more. */
function OperatorsOnly({ children }: { readonly children: ReactNode }) {
  const person = usePerson();
  useOnEnd(person.data?.operator === true, () =>
    announce(t('You are no longer an operator of this service.'), 'danger'),
  );
  if (person.data?.operator === true) {
    return person.data.acts_as_operator ? children : <ChangePasswordFirst />;
  }
  if (person.data !== undefined) return <ForOperators email={person.data.email ?? ''} />;
  return (
    <Page title={t('For operators')}>
      <Loaded query={person} what={t('your name')}>
        {() => null}
      </Loaded>
    </Page>
  );
}

/** Makes a page one for operators alone. */
export const forOperators = (Content: () => ReactNode) => () => (
  <OperatorsOnly>
    <Content />
  </OperatorsOnly>
);

function ChangePasswordFirst() {
  return (
    <Page title={t('For operators')}>
      <EmptyState
        icon="server"
        title={t('Change the first password to open the pages for operators')}
        action={
          <ButtonLink to="/account" look="primary">
            {t('Change the password')}
          </ButtonLink>
        }
      >
        {t(
          'The first start printed it. The pages for operators show the state of the service. There you add credits, and open an account for each customer.',
        )}
      </EmptyState>
    </Page>
  );
}

function ForOperators({ email }: { readonly email: string }) {
  return (
    <Page title={t('For operators')}>
      <EmptyState
        icon="server"
        title={t('{email} is not an operator of this service', { email })}
        action={<ButtonLink to="/">{t('Go to the first page')}</ButtonLink>}
      >
        {rich(
          'The pages for operators show the state of the service and all its accounts. If you run the service, make your account an operator on its machine:{br}{code}',
          { br: <br />, code: <code>bin/pressledger account operator {email} --grant</code> },
        )}
      </EmptyState>
    </Page>
  );
}
