import { usePerson } from '../../api/people.ts';
import { Page } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';
import { PasskeysSection } from './PasskeysSection.tsx';
import { TwoStepSection } from './TwoStepSection.tsx';

/** Shows what still signs in beside a new password: somebody else may have added it. */
export default function OtherWaysInPage() {
  const email = usePerson().data?.email ?? '';
  return (
    <Page
      title={t('What else signs you in')}
      lead={t('Your new password ends none of these. Remove what you do not know.')}
    >
      <PasskeysSection />
      <TwoStepSection email={email} />
    </Page>
  );
}
