import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { LANGUAGES } from '../../../../samples/all.ts';
import { jsonOf, REQUEST_FILE, sampleRequest } from '../../../../samples/json.ts';
import type { Account } from '../../api/people.ts';
import { conversionRequestQuery } from '../../api/conversions.ts';
import { templateQuery, templateVersionQuery } from '../../api/templates.ts';
import { useTaken } from '../../request/draft.ts';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import { Ended, Result, summaryOf } from '../../request/Result.tsx';
import type { Field } from '../../request/schema.ts';
import { labelOfPath, optionsOf } from '../../request/values.ts';
import { CodeSamples, NotTaken, RequestPage, Workbench } from '../../request/Workbench.tsx';
import { Select, Switch } from '../../ui/choices.tsx';
import { EmptyState, Notice, Section } from '../../ui/Page.tsx';
import { RecordLink } from '../../ui/records.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { TextField } from '../../ui/forms.tsx';
import { useOutcome, useStoredDraft } from './draft.ts';
import { HtmlEditor } from './HtmlEditor.tsx';
import { OpenPage } from './OpenPage.tsx';
import {
  changesFiles,
  type Draft,
  goesWith,
  NO_TEMPLATE,
  optionsBody,
  requestOf,
  type Source,
} from './request.ts';
import type { StartName } from './starts.ts';
import { TemplateFields } from './TemplateFields.tsx';
import { draftOf } from './template.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const LEAD = t('Try a document and its options, then copy the same request for your program.');

export default function PlaygroundPage() {
  return (
    <RequestPage title={t('Playground')} lead={LEAD} request="ConversionRequest">
      {(owner, fields) => <Playground key={owner.id} account={owner} fields={fields} />}
    </RequestPage>
  );
}

type PlaygroundProps = { readonly account: Account; readonly fields: readonly Field[] };

function Playground({ account, fields }: PlaygroundProps) {
  const { draft, number, change, replace, undo } = useStoredDraft(account.id);
  const { made, last, error, errors, sent, isPreviewing, ...outcome } = useOutcome(
    fields,
    draft,
    number,
  );
  // A preview that failed stands above the last good one.
  const shown = [...new Set([made, last])].filter((each) => each !== undefined);
  const { options, source, lacksFiles = false } = draft;
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
          <Taken fields={fields} onLoad={replace} />
        </>
      }
      undo={undo}
      source={
        <SourceFields
          {...{ number, draft, fields, change, replace, errors }}
          isOperator={account.operator}
        />
      }
      fields={fields.filter((field) => goesWith(field, source))}
      values={options}
      onChange={(next) =>
        change({ options: next, lacksFiles: lacksFiles && !changesFiles(options, next) })
      }
      onReset={() => {
        outcome.forgive();
        replace({ options: {} }, true);
      }}
      errors={errors}
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
            labelOf={(path) => labelOfPath(fields, path, sent.options)}
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
      samples={<Samples {...{ fields, draft }} />}
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
  /** The account acts for the service. */
  readonly isOperator: boolean;
}

function SourceFields({
  draft,
  number,
  fields,
  change,
  replace,
  errors,
  isOperator,
}: SourceFieldsProps) {
  const htmlError = draft.source === 'html' ? errorWithin(errors, 'html') : undefined;
  const begin = async (name: StartName) => replace((await import('./starts.ts')).startOf(name));
  return (
    <Section
      title={t('Source')}
      actions={
        <Select
          label={t('Begin with')}
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
                  isOperator && location.hostname === 'localhost'
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
function Samples({ fields, draft }: { readonly fields: readonly Field[]; readonly draft: Draft }) {
  const request = requestOf(fields, draft);
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

const NEW_TEMPLATE: Partial<Draft> = { source: 'template', template: NO_TEMPLATE, options: {} };

interface TakenProps {
  readonly fields: readonly Field[];
  readonly onLoad: (draft: Partial<Draft>) => void;
}

/** Takes over the request of the conversion, or the version of a template, that the address names; or begins a new one. */
function Taken({ fields, onLoad }: TakenProps) {
  const { from, template: asked } = route.useSearch();
  const [taken, setTaken] = useState<string>();
  const earlier = useQuery({ ...conversionRequestQuery(from ?? ''), enabled: from !== undefined });
  const [id = '', number] = asked?.split('@') ?? [];
  const isStored = asked !== undefined && asked !== 'new';
  const template = useQuery({ ...templateQuery(id), enabled: isStored });
  const version = Number(number ?? template.data?.version);
  const content = useQuery({
    ...templateVersionQuery(id, version),
    enabled: isStored && template.data !== undefined,
  });
  // Work on documents has no page to print.
  const request = earlier.data?.source === 'document' ? undefined : earlier.data;
  useTaken(from, request, ({ source, html = '', url = '', options }) => {
    onLoad({ source: source as Source, html, url, options: optionsOf(fields, options) });
    setTaken(from);
  });
  const [saved, held] = [template.data, content.data];
  const stored = saved && held && draftOf(fields, saved, held);
  useTaken(asked, isStored ? stored : NEW_TEMPLATE, onLoad);
  return (
    <>
      <NotTaken named={from} error={earlier.error} />
      <NotTaken named={asked} error={template.error ?? content.error} />
      {taken !== undefined && (
        <Notice kind="info">
          {rich('This is the request of {link}. Converting it makes a new conversion.', {
            link: <RecordLink id={taken} name={taken} />,
          })}
        </Notice>
      )}
    </>
  );
}
