import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useState } from 'react';
import { LANGUAGES } from '../../../../samples/all.ts';
import { jsonOf, REQUEST_FILE, sampleRequest } from '../../../../samples/json.ts';
import { useAccount } from '../../api/people.ts';
import { conversionRequestQuery } from '../../api/conversions.ts';
import { ApiError, errorText } from '../../api/error.ts';
import type { components } from '../../api/schema.d.ts';
import { templateQuery, templateVersionQuery } from '../../api/templates.ts';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import { Ended, Result, summaryOf } from '../../request/Result.tsx';
import { fieldsQuery } from '../../request/fields-query.ts';
import type { Field } from '../../request/schema.ts';
import { labelOfPath, optionsOf, type Values } from '../../request/values.ts';
import { CodeSamples, Workbench } from '../../request/Workbench.tsx';
import { Button } from '../../ui/Button.tsx';
import { Select, Switch } from '../../ui/choices.tsx';
import { EmptyState, Loaded, Notice, Page, Section } from '../../ui/Page.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { TextField } from '../../ui/forms.tsx';
import { useDraft, useOutcome } from './draft.ts';
import { HtmlEditor } from './HtmlEditor.tsx';
import { OpenPage } from './OpenPage.tsx';
import { OptionsForm } from './OptionsForm.tsx';
import { type Draft, NO_TEMPLATE, optionsBody, requestOf } from './request.ts';
import type { StartName } from './starts.ts';
import { TemplateFields } from './TemplateFields.tsx';
import { draftOf } from './template.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

type Account = components['schemas']['Account'];

const LEAD = t('Try a document and its options, then copy the same request for your program.');

export default function PlaygroundPage() {
  const account = useAccount();
  const fields = useQuery(fieldsQuery('ConversionRequest'));
  return (
    <Page title={t('Playground')} lead={LEAD}>
      <Loaded query={account} what={t('the account')} lines={10}>
        {(owner) => (
          <Loaded query={fields} what={t('the options')} lines={10}>
            {(options) => <Playground key={owner.id} account={owner} fields={options} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

type PlaygroundProps = { readonly account: Account; readonly fields: readonly Field[] };

function Playground({ account, fields }: PlaygroundProps) {
  const { draft, number, change, replace, lacksFiles } = useDraft(account.id);
  const { made, last, error, isPreviewing, ...outcome } = useOutcome(fields, draft);
  // A preview that failed stands above the last good one.
  const shown = [...new Set([made, last])].filter((each) => each !== undefined);
  const sampled = useDeferredValue(draft);
  const errors: FieldErrors = error instanceof ApiError ? error.details : {};
  return (
    <Workbench
      notice={
        <>
          {lacksFiles && (
            <Notice kind="warning">
              {t(
                'The files of this draft are too large for the browser to keep over a reload. Open or choose them again.',
              )}
            </Notice>
          )}
          <EarlierRequest fields={fields} onLoad={replace} />
          <StoredTemplate fields={fields} onLoad={replace} />
        </>
      }
      source={
        <SourceFields
          number={number}
          draft={draft}
          fields={fields}
          change={change}
          replace={replace}
          errors={errors}
        />
      }
      options={
        <Section
          title={t('Options')}
          lead={t('Options that are not set have their defaults.')}
          actions={
            <Button small onPress={() => change({ options: {} })}>
              {t('Reset')}
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
      }
      paid={t('A conversion')}
      credits={account.credits}
      action={t('Convert')}
      isPending={outcome.isConverting}
      onSend={outcome.convert}
      result={
        <>
          <div>
            <Switch isSelected={isPreviewing} onChange={outcome.setPreviewing}>
              {t('Preview as I type')}
            </Switch>
            <p className="note">{t('Free, with a watermark. The history keeps each as a test.')}</p>
          </div>
          <Result
            isPending={outcome.isPending}
            failure={error}
            labelOf={(path) => labelOfPath(fields, path)}
            summary={made === undefined ? '' : summaryOf(made)}
            isKept={last !== undefined}
          >
            {shown.length === 0 && (
              <EmptyState icon="document" title={t('The result appears here')}>
                {t('Edit the HTML or choose options, then convert.')}
              </EmptyState>
            )}
            {shown.map((each) => (
              <Ended key={each.record.id} converted={each} />
            ))}
          </Result>
        </>
      }
      samples={<Samples request={requestOf(fields, sampled)} />}
    />
  );
}

const STARTS: readonly { readonly value: StartName; readonly label: string }[] = [
  { value: 'invoice', label: t('Invoice') },
  { value: 'letter', label: t('Letter') },
  { value: 'report', label: t('Report with a chart') },
  { value: 'certificate', label: t('Certificate') },
  { value: 'eInvoice', label: t('Electronic invoice (Factur-X)') },
];

interface SourceFieldsProps {
  readonly draft: Draft;
  /** That of the text: editors keep their own, and begin anew with another one. */
  readonly number: number;
  readonly fields: readonly Field[];
  readonly replace: (draft: Partial<Draft>) => void;
  readonly change: (part: Partial<Draft>) => void;
  readonly errors: FieldErrors;
}

function SourceFields({ draft, number, fields, change, replace, errors }: SourceFieldsProps) {
  const htmlError = draft.source === 'html' ? errorWithin(errors, 'html') : undefined;
  const begin = async (name: StartName) => replace((await import('./starts.ts')).startOf(name));
  return (
    <Section
      title={t('Source')}
      actions={
        <Select
          label={t('Begin with')}
          hint={t('It takes the place of what is here.')}
          placeholder={t('Choose a document')}
          choices={STARTS}
          value={null}
          onChange={(name) => void begin(name)}
        />
      }
    >
      <Tabs
        label={t('Source of the document')}
        selected={draft.source}
        onSelect={(source) => change({ source: source as Draft['source'] })}
        tabs={[
          {
            id: 'html',
            title: 'HTML',
            content: (
              <OpenPage
                onOpen={(html, files) => replace({ html, options: { ...draft.options, files } })}
              >
                <HtmlEditor key={number} html={draft.html} onChange={(html) => change({ html })} />
                {htmlError !== undefined && <p className="wrong">{htmlError}</p>}
              </OpenPage>
            ),
          },
          {
            id: 'url',
            title: 'URL',
            content: (
              <TextField
                label="URL"
                hint={
                  location.hostname === 'localhost'
                    ? t(
                        'The address of the page to print. For pages of this machine, start the service with ALLOW_PRIVATE_NETWORK=true.',
                      )
                    : t('The address of the page to print.')
                }
                type="url"
                inputMode="url"
                value={draft.url}
                error={errorWithin(errors, 'url')}
                onChange={(url) => change({ url })}
              />
            ),
          },
          {
            id: 'template',
            title: t('Template and data'),
            content: (
              <TemplateFields
                key={number}
                template={draft.template}
                options={optionsBody(fields, draft)}
                errors={draft.source === 'template' ? errors : {}}
                onChange={(template) => change({ template })}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}

/** The request in all languages. */
function Samples({ request }: { readonly request: Values }) {
  const made = sampleRequest(request, location.origin);
  const long = { what: t('The request is'), file: REQUEST_FILE, json: jsonOf(request) };
  return (
    <CodeSamples
      samples={LANGUAGES.map(({ sample, ...language }) => ({ ...language, code: sample(made) }))}
      long={made.json === undefined ? long : undefined}
    />
  );
}

const route = getRouteApi('/signed-in/playground');

interface EarlierRequestProps {
  readonly fields: readonly Field[];
  readonly onLoad: (draft: Partial<Draft>) => void;
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
        {rich('The request of {from} could not be loaded. {error}', {
          from,
          error: errorText(error),
        })}
      </Notice>
    );
  }
  if (loaded === undefined) return null;
  return (
    <Notice kind="info">
      {rich('This is the request of {link}. Converting it makes a new conversion.', {
        link: (
          <Link to="/conversions/$id" params={{ id: loaded }}>
            {loaded}
          </Link>
        ),
      })}
    </Notice>
  );
}

/** Takes over the version of a template that the address names, or begins a new one. */
function StoredTemplate({ fields, onLoad }: EarlierRequestProps) {
  const { template: asked } = route.useSearch();
  const navigate = useNavigate();
  const [id = '', number] = asked?.split('@') ?? [];
  const isStored = asked !== undefined && asked !== 'new';
  const template = useQuery({ ...templateQuery(id), enabled: isStored });
  const version = Number(number ?? template.data?.version);
  const content = useQuery({
    ...templateVersionQuery(id, version),
    enabled: isStored && template.data !== undefined,
  });
  const [saved, held] = [template.data, content.data];
  useEffect(() => {
    if (asked === undefined) return;
    if (isStored && (saved === undefined || held === undefined)) return;
    const loaded =
      saved && held
        ? draftOf(fields, saved, held)
        : ({ source: 'template', template: NO_TEMPLATE, options: {} } as const);
    onLoad(loaded);
    // A reload must show what was edited since.
    void navigate({ to: '/playground', search: {}, replace: true });
  }, [asked, isStored, saved, held, fields, navigate, onLoad]);
  const error = template.error ?? content.error;
  if (error === null || !isStored) return null;
  return (
    <Notice kind="danger">
      {rich('The template could not be loaded. {error}', { error: errorText(error) })}
    </Notice>
  );
}
