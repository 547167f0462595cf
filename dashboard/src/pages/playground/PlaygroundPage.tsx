import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { LANGUAGES } from '../../../../samples/all.ts';
import { jsonOf, REQUEST_FILE, sampleRequest } from '../../../../samples/json.ts';
import { useAccount } from '../../api/account.ts';
import { ApiError } from '../../api/error.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Page, Section } from '../../ui/Page.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { ErrorState, Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { convert } from './conversion.ts';
import { useDraft } from './draft.ts';
import { EarlierRequest } from './EarlierRequest.tsx';
import { HtmlEditor } from './HtmlEditor.tsx';
import { OptionsForm } from './OptionsForm.tsx';
import { errorWithin, type FieldErrors } from './option.ts';
import styles from './Playground.module.css';
import { Result } from './Result.tsx';
import { type Draft, requestOf, type Values } from './request.ts';
import { type Field, fieldsQuery } from './request-schema.ts';

type Account = components['schemas']['Account'];

const LEAD = 'Try a document and its options, then copy the same request for your program.';

export default function PlaygroundPage() {
  const account = useAccount();
  const fields = useQuery(fieldsQuery);
  const failed = [account, fields].find(({ isError }) => isError);
  return (
    <Page title="Playground" lead={LEAD}>
      {failed !== undefined ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : account.data === undefined || fields.data === undefined ? (
        <Loading label="Loading the options" lines={10} />
      ) : (
        <Playground key={account.data.id} account={account.data} fields={fields.data} />
      )}
    </Page>
  );
}

interface PlaygroundProps {
  readonly account: Account;
  readonly fields: readonly Field[];
}

function Playground({ account, fields }: PlaygroundProps) {
  const { draft, number, change, replace } = useDraft(account.id);
  const queries = useQueryClient();
  const conversion = useMutation({
    mutationFn: () => convert(requestOf(fields, draft)),
    // Credits, lists and the history show it.
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] !== fieldsQuery.queryKey[0],
      }),
  });
  const start = () => {
    if (!conversion.isPending) conversion.mutate();
  };
  const shown = useDeferredValue(draft);
  const errors: FieldErrors = conversion.error instanceof ApiError ? conversion.error.details : {};
  return (
    <div
      className={styles.playground}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
      }}
    >
      <EarlierRequest fields={fields} onLoad={replace} />
      <div className={styles.columns}>
        <SourceFields key={number} draft={draft} change={change} errors={errors} />
        <div className={styles.beside}>
          <Section
            title="PDF"
            lead={`A conversion costs 1 credit. You have ${formatNumber(account.credits)}.`}
            actions={
              <Button look="primary" icon="play" isPending={conversion.isPending} onPress={start}>
                Convert
              </Button>
            }
          >
            <Result
              isPending={conversion.isPending}
              converted={conversion.data}
              failure={conversion.error}
              fields={fields}
            />
          </Section>
        </div>
        <Section
          title="Options"
          lead="Options that are not set have their defaults."
          actions={
            <Button small onPress={() => change({ options: {} })}>
              Reset
            </Button>
          }
        >
          <OptionsForm
            fields={fields}
            draft={draft}
            onChange={(options) => change({ options })}
            errors={errors}
          />
        </Section>
      </div>
      <Section
        title="The same request in a program"
        lead="Keep an API key in the environment variable PRESSLEDGER_API_KEY."
      >
        <CodeSamples request={requestOf(fields, shown)} />
      </Section>
    </div>
  );
}

interface SourceFieldsProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
  readonly errors: FieldErrors;
}

function SourceFields({ draft, change, errors }: SourceFieldsProps) {
  const htmlError = draft.source === 'html' ? errorWithin(errors, 'html') : undefined;
  return (
    <Section title="Source">
      <Tabs
        label="Source of the document"
        selected={draft.source}
        onSelect={(source) => change({ source: source === 'url' ? 'url' : 'html' })}
        tabs={[
          {
            id: 'html',
            title: 'HTML',
            content: (
              <>
                <HtmlEditor html={draft.html} onChange={(html) => change({ html })} />
                {htmlError !== undefined && <p className={styles.error}>{htmlError}</p>}
              </>
            ),
          },
          {
            id: 'url',
            title: 'URL',
            content: (
              <TextField
                label="URL"
                hint="The http or https address of the page to print."
                type="url"
                inputMode="url"
                value={draft.url}
                error={errorWithin(errors, 'url')}
                onChange={(url) => change({ url })}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}

/** The request as the source text of programs. */
function CodeSamples({ request }: { readonly request: Values }) {
  const made = sampleRequest(request, location.origin);
  const save = () =>
    saveFile(new Blob([jsonOf(request)], { type: 'application/json' }), REQUEST_FILE);
  return (
    <>
      {made.json === undefined && (
        <div className={styles.inline}>
          <p>
            The request is too long to be shown here. The samples read it from{' '}
            <code>{REQUEST_FILE}</code>.
          </p>
          <Button small icon="download" onPress={save}>
            Download {REQUEST_FILE}
          </Button>
        </div>
      )}
      <Tabs
        label="Languages"
        tabs={LANGUAGES.map(({ id, title, sample }) => ({
          id,
          title,
          content: <Code code={sample(made)} copyLabel={`Copy the ${title} sample`} />,
        }))}
      />
    </>
  );
}
