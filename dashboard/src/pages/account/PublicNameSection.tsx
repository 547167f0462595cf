import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Section } from '../../ui/Page.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { Loaded } from '../../ui/states.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { announce } from '../../ui/Toasts.tsx';

const PATH = '/api/v1/account/public-name/';
const PUBLIC_NAME = ['public-name'];
/** The longest that the service takes. */
const LONGEST = 200;

const refresh = () => queryClient.invalidateQueries({ queryKey: PUBLIC_NAME });

async function remove(): Promise<void> {
  await dataOf(api.DELETE(PATH));
  announce('People who check a PDF are told no name from now on.');
}

/** The name that people without an account are told when they check a PDF of this one. */
export function PublicNameSection() {
  const current = useQuery({
    queryKey: PUBLIC_NAME,
    queryFn: ({ signal }) => dataOf(api.GET(PATH, { signal })),
  });
  return (
    <Section
      title="Public name"
      lead="Where this service lets anybody check a PDF, people who check one of yours are told this name, for older PDFs too. Without a name they are told none."
      actions={
        current.data !== undefined &&
        current.data.name !== null && (
          <ConfirmButton
            small
            text="Remove the name"
            title="Remove the public name?"
            action="Remove the name"
            onConfirm={remove}
            onClosed={() => void refresh()}
          >
            <p>People who check a PDF of this account are told no name from then on.</p>
          </ConfirmButton>
        )
      }
    >
      <Loaded query={current} what="the public name" lines={1}>
        {({ name }) => <Facts facts={{ Name: name === null ? 'None' : <bdi>{name}</bdi> }} />}
      </Loaded>
      <SendForm
        action="Set the name"
        look="secondary"
        layout="narrow"
        onSend={async (textOf) => {
          const body = { name: textOf('name') };
          const { name } = await dataOf(api.PUT(PATH, { body }));
          await refresh();
          return `People who check a PDF are told the name ${name}.`;
        }}
      >
        <TextField
          label="New name"
          name="name"
          autoComplete="organization"
          maxLength={LONGEST}
          hint="Such as the name of your company. The service does not check it."
          isRequired
        />
      </SendForm>
    </Section>
  );
}
