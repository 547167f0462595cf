import { api, dataOf } from '../../api/client.ts';
import { Facts } from '../../ui/Facts.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { SettingSection } from './SettingSection.tsx';
import { t } from '../../words/words.ts';

const PATH = '/api/v1/account/public-name/';
/** The longest that the service takes. */
const LONGEST = 200;

/** The name that people without an account are told when they check a PDF of this one. */
export function PublicNameSection() {
  return (
    <SettingSection
      title={t('Public name')}
      lead={t(
        'Where this service lets anybody check a PDF, people who check one of yours are told this name, for older PDFs too. Without a name they are told none.',
      )}
      what={t('the public name')}
      queryKey={['public-name']}
      ask={async (signal) => (await dataOf(api.GET(PATH, { signal }))).name}
      show={(name) => (
        <Facts facts={{ [t('Name')]: name === null ? t('None') : <bdi>{name}</bdi> }} />
      )}
      lines={1}
      removal={{
        action: t('Remove the name'),
        title: t('Remove the public name?'),
        effect: t('People who check a PDF of this account are told no name from then on.'),
        remove: () => dataOf(api.DELETE(PATH)),
        done: t('People who check a PDF are told no name from now on.'),
      }}
      action={t('Set the name')}
      onSend={async (textOf) => {
        const { name } = await dataOf(api.PUT(PATH, { body: { name: textOf('name') } }));
        return t('People who check a PDF are told the name {name}.', { name });
      }}
    >
      <TextField
        label={t('New public name')}
        name="name"
        autoComplete="organization"
        maxLength={LONGEST}
        hint={t('Such as the name of your company. The service does not check it.')}
        isRequired
      />
    </SettingSection>
  );
}
