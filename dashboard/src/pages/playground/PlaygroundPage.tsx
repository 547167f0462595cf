import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useState } from 'react';
import { LANGUAGES } from '../../../../samples/all.ts';
import { jsonOf, REQUEST_FILE, sampleRequest } from '../../../../samples/json.ts';
import { useAccount } from '../../api/account.ts';
import { conversionRequestQuery } from '../../api/conversion-documents.ts';
import { ApiError, errorText } from '../../api/error.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { saveFile } from '../../ui/SaveButton.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { convert } from './conversion.ts';
import { useDraft } from './draft.ts';
import { errorWithin, type FieldErrors } from './Framed.tsx';
import { HtmlEditor } from './HtmlEditor.tsx';
import { OptionsForm } from './OptionsForm.tsx';
import styles from './Playground.module.css';
import { type ApiDocument, type Field, fieldsOf } from './request-schema.ts';
import { type Draft, optionsOf, requestOf, type Values } from './request.ts';
import { Result } from './Result.tsx';

type Account = components['schemas']['Account'];

const LEAD = 'Try a document and its options, then copy the same request for your program.';

async function readFields(signal: AbortSignal): Promise<readonly Field[]> {
  const response = await fetch('/openapi.json', { signal });
  if (!response.ok) throw await ApiError.from(response);
  return fieldsOf((await response.json()) as ApiDocument);
}

/** The document changes only with the service's version. */
const fieldsQuery = queryOptions({
  queryKey: ['request-fields'],
  queryFn: ({ signal }) => readFields(signal),
  staleTime: Number.POSITIVE_INFINITY,
});

export default function PlaygroundPage() {
  const account = useAccount();
  const fields = useQuery(fieldsQuery);
  return (
    <Page title="Playground" lead={LEAD}>
      <Loaded query={account} what="the account" lines={10}>
        {(owner) => (
          <Loaded query={fields} what="the options" lines={10}>
            {(options) => <Playground key={owner.id} account={owner} fields={options} />}
          </Loaded>
        )}
      </Loaded>
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
            title="Result"
            lead={
              account.credits === null
                ? 'A conversion costs nothing.'
                : `A conversion costs 1 credit. You have ${formatNumber(account.credits)}.`
            }
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
                {htmlError !== undefined && <p className="wrong">{htmlError}</p>}
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

const route = getRouteApi('/signed-in/playground');

interface EarlierRequestProps {
  readonly fields: readonly Field[];
  readonly onLoad: (draft: Draft) => void;
}

/** Takes over the request of the conversion that the address names, and says so. */
function EarlierRequest({ fields, onLoad }: EarlierRequestProps) {
  const { from } = route.useSearch();
  const navigate = useNavigate();
  const [loaded, setLoaded] = useState<string>();
  const { data, error } = useQuery({
    ...conversionRequestQuery(from ?? ''),
    enabled: from !== undefined,
  });
  useEffect(() => {
    if (data === undefined || from === undefined) return;
    const { source, html = '', url = '', options } = data;
    // Work on documents has no page to print.
    if (source === 'document') return;
    onLoad({ source, html, url, options: optionsOf(fields, options) });
    setLoaded(from);
    // A reload must show what was edited since.
    void navigate({ to: '/playground', search: {}, replace: true });
  }, [data, from, fields, navigate, onLoad]);
  if (error !== null && from !== undefined) {
    return (
      <Notice kind="danger">
        The request of {from} could not be loaded. {errorText(error)}
      </Notice>
    );
  }
  if (loaded === undefined) return null;
  return (
    <Notice kind="info">
      This is the request of{' '}
      <Link to="/conversions/$id" params={{ id: loaded }}>
        {loaded}
      </Link>
      . Converting it makes a new conversion.
    </Notice>
  );
}
