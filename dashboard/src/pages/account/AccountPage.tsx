import { useAccount } from '../../api/account.ts';
import { Facts } from '../../ui/Facts.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Page, Section } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/Time.tsx';
import { PasswordSection } from './PasswordSection.tsx';
import { SessionsSection } from './SessionsSection.tsx';

export default function AccountPage() {
  const account = useAccount();
  return (
    <Page title="Account" lead="Who you are here, your password, and where you are signed in.">
      <Section title="This account">
        <Loaded query={account} what="the account" lines={3}>
          {({ email, plan, credits, created_at: openedAt, id }) => (
            <Facts
              facts={{
                Email: email,
                Plan: planName(plan),
                'Credits left': formatNumber(credits),
                Opened: <Time iso={openedAt} />,
                'Account id': <code>{id}</code>,
              }}
            />
          )}
        </Loaded>
      </Section>
      <PasswordSection account={account.data} />
      <SessionsSection />
    </Page>
  );
}
