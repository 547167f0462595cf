import { api, dataOf } from '../../api/client.ts';
import { Facts } from '../../ui/Facts.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { SettingSection } from './SettingSection.tsx';

const PATH = '/api/v1/account/public-name/';
/** The longest that the service takes. */
const LONGEST = 200;

/** The name that people without an account are told when they check a PDF of this one. */
export function PublicNameSection() {
  return (
    <SettingSection
      title="Public name"
      lead="Where this service lets anybody check a PDF, people who check one of yours are told this name, for older PDFs too. Without a name they are told none."
      what="the public name"
      queryKey={['public-name']}
      ask={async (signal) => (await dataOf(api.GET(PATH, { signal }))).name}
      show={(name) => <Facts facts={{ Name: name === null ? 'None' : <bdi>{name}</bdi> }} />}
      lines={1}
      removal={{
        action: 'Remove the name',
        title: 'Remove the public name?',
        effect: 'People who check a PDF of this account are told no name from then on.',
        remove: () => dataOf(api.DELETE(PATH)),
        done: 'People who check a PDF are told no name from now on.',
      }}
      action="Set the name"
      onSend={async (textOf) => {
        const { name } = await dataOf(api.PUT(PATH, { body: { name: textOf('name') } }));
        return `People who check a PDF are told the name ${name}.`;
      }}
    >
      <TextField
        label="New public name"
        name="name"
        autoComplete="organization"
        maxLength={LONGEST}
        hint="Such as the name of your company. The service does not check it."
        isRequired
      />
    </SettingSection>
  );
}
