import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useRef } from 'react';
import { curlOfWork, STEPS_FILE, typescriptOfWork } from '../../../../samples/documents.ts';
import { jsonOf, shortJsonOf } from '../../../../samples/json.ts';
import { type Account, useAccount } from '../../api/people.ts';
import { api } from '../../api/client.ts';
import {
  type Conversion,
  conversionQuery,
  conversionRequestQuery,
  nounOf,
  type StoredRequest,
} from '../../api/conversions.ts';
import { ApiError, errorText } from '../../api/error.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import { type Converted, refresh, sendOnce, untilEnded } from '../../request/convert.ts';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import { OptionGroup } from '../../request/OptionField.tsx';
import { Ended, Result, summaryOf } from '../../request/Result.tsx';
import { fieldsQuery } from '../../request/fields-query.ts';
import type { Field } from '../../request/schema.ts';
import { textOf, type Values } from '../../request/values.ts';
import { CodeSamples, Workbench } from '../../request/Workbench.tsx';
import { Button } from '../../ui/Button.tsx';
import { contentOf } from '../../ui/chosen-files.ts';
import { counted } from '../../ui/format.ts';
import { EmptyState, Loaded, Notice, Page, Section } from '../../ui/Page.tsx';
import { RecordLink } from '../../ui/records.tsx';
import { TextField } from '../../ui/forms.tsx';
import { announce } from '../../ui/Toasts.tsx';
import styles from './documents.module.css';
import { draftOf, sourceOf, useWorkDraft } from './draft.ts';
import { Parts } from './Parts.tsx';
import { SourceList } from './SourceList.tsx';
import { StepList } from './StepList.tsx';
import {
  formOf,
  labelOf,
  sampleOf,
  type SourceDraft,
  type WorkDraft,
  type WorkFields,
  workFields,
  workOf,
} from './work.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const LEAD = t(
  'Join, split, turn, stamp, encrypt or otherwise change PDFs that you have, or that were made here.',
);

export default function DocumentsPage() {
  const account = useAccount();
  const fields = useQuery({ ...fieldsQuery('DocumentRequest'), select: workFields });
  return (
    <Page title={t('Documents')} lead={LEAD}>
      <Loaded query={account} what={t('the account')} lines={10}>
        {(owner) => (
          <Loaded query={fields} what={t('the steps')} lines={10}>
            {(known) => <Documents key={owner.id} account={owner} fields={known} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

/** A conversion that has ended, or the batch of the parts of a split. */
type Made = Converted | { readonly batch: string; readonly conversions: readonly string[] };

const keys = new IdempotencyKeys();

async function send(draft: WorkDraft, fields: WorkFields): Promise<Made> {
  const work = workOf(draft, fields);
  // Read before it is sent: of a file that was moved meanwhile, `fetch` says the same as of a lost connection.
  const files = await Promise.all(
    work.files.map(async (file) => new File([await contentOf(file)], file.name)),
  );
  const answer = await sendOnce(
    keys,
    JSON.stringify([draft.sources.map(({ key }) => key), work.request]),
    (header) =>
      api.POST('/api/v1/documents/', {
        params: { header },
        body: work.request,
        bodySerializer: () => formOf({ ...work, files }),
      }),
  );
  const { id, conversions } = answer;
  if (conversions !== undefined) return { batch: id, conversions };
  return await untilEnded(answer as Conversion);
}

type DocumentsProps = { readonly account: Account; readonly fields: WorkFields };

function Documents({ account, fields }: DocumentsProps) {
  const { draft, change, addSources, addStep } = useWorkDraft(account.id);
  const work = useMutation({ mutationFn: () => send(draft, fields), onSettled: refresh });
  const { data: made, error, isPending } = work;
  // The service names what is wrong by its place: elsewhere, its errors would stand at others.
  const reorder = (next: Partial<WorkDraft>) => {
    if (error !== null) work.reset();
    change(() => next);
  };
  const add = (added: readonly SourceDraft[]) => {
    if (error !== null) work.reset();
    addSources(added);
  };
  const shown = useDeferredValue(draft);
  const errors: FieldErrors = error instanceof ApiError ? error.details : {};
  const isSplit = draft.steps.some(({ type }) => type === 'split');
  return (
    <Workbench
      notice={
        <>
          <NamedSource onAdd={add} />
          <EarlierWork onLoad={(request) => reorder(draftOf(request, fields))} />
        </>
      }
      source={
        <div className={styles.column}>
          <SourceList
            sources={draft.sources}
            most={fields.sources.most}
            onAdd={add}
            onChange={(sources) => change(() => ({ sources }))}
            onOrder={(sources) => reorder({ sources })}
            errors={errors}
          />
          <StepList
            steps={draft.steps}
            field={fields.steps}
            onAdd={(step) => {
              if (error !== null) work.reset();
              addStep(step);
            }}
            onChange={(steps) => change(() => ({ steps }))}
            onOrder={(steps) => reorder({ steps })}
            errors={errors}
          />
          <NamedFields
            fields={fields.named}
            named={draft.named}
            onChange={(named) => change(() => ({ named }))}
            onReset={() => reorder({ sources: [], steps: [], named: {} })}
            errors={errors}
          />
        </div>
      }
      paid={isSplit ? t('Each part') : t('The new PDF')}
      credits={account.credits}
      action={isSplit ? t('Make the parts') : t('Make the PDF')}
      isPending={isPending}
      onSend={work.mutate}
      result={
        <Result
          isPending={isPending}
          failure={error}
          labelOf={(path) => labelOf(draft, fields, path)}
          summary={madeText(made)}
        >
          <Shown made={made} />
        </Result>
      }
      samples={<Samples draft={shown} fields={fields} />}
    />
  );
}

function madeText(made: Made | undefined): string {
  if (made === undefined) return '';
  return 'batch' in made
    ? t('{length} are being made.', { length: counted(made.conversions.length, 'part') })
    : summaryOf(made);
}

function Shown({ made }: { readonly made: Made | undefined }) {
  if (made === undefined) {
    return (
      <EmptyState icon="pages" title={t('The result appears here')}>
        {t('Add PDFs and steps, then make the new PDF.')}
      </EmptyState>
    );
  }
  return 'batch' in made ? (
    <Parts id={made.batch} conversions={made.conversions} />
  ) : (
    <Ended converted={made} />
  );
}

interface NamedFieldsProps {
  readonly fields: readonly Field[];
  readonly named: Values;
  readonly onChange: (named: Values) => void;
  readonly onReset: () => void;
  readonly errors: FieldErrors;
}

const FILE_NAME = 'filename';

/** The name of the new PDF, and folded what few people need. */
function NamedFields({ fields, named, onChange, onReset, errors }: NamedFieldsProps) {
  return (
    <Section
      title={t('Name and more')}
      actions={
        <Button small onPress={onReset}>
          {t('Start afresh')}
        </Button>
      }
    >
      <TextField
        label={t('File name')}
        hint={t('Such as Report. “.pdf” is added where it is missing.')}
        value={textOf(named[FILE_NAME])}
        error={errorWithin(errors, FILE_NAME)}
        onChange={(name) => onChange({ ...named, [FILE_NAME]: name })}
      />
      <OptionGroup
        title={t('Reference, tags, priority, webhook and retention')}
        fields={fields.filter(({ name }) => name !== FILE_NAME)}
        values={named}
        onChange={onChange}
        errors={errors}
      />
    </Section>
  );
}

type SamplesProps = { readonly draft: WorkDraft; readonly fields: WorkFields };

function Samples({ draft, fields }: SamplesProps) {
  const work = sampleOf(draft, fields, location.origin);
  const isLong = shortJsonOf(work.steps) === undefined;
  return (
    <CodeSamples
      samples={[
        { id: 'curl', title: 'curl', code: curlOfWork(work) },
        { id: 'typescript', title: 'TypeScript', code: typescriptOfWork(work) },
      ]}
      long={
        isLong
          ? { what: t('The steps are'), file: STEPS_FILE, json: jsonOf(work.steps) }
          : undefined
      }
    />
  );
}

const route = getRouteApi('/signed-in/documents');

type NamedSourceProps = { readonly onAdd: (added: readonly SourceDraft[]) => void };

/** Adds the PDF of the conversion that the address names, once. */
function NamedSource({ onAdd }: NamedSourceProps) {
  const { add } = route.useSearch();
  const navigate = useNavigate();
  const lastAdded = useRef<string>(undefined);
  const { data, error } = useQuery({ ...conversionQuery(add ?? ''), enabled: add !== undefined });
  const isUsable = data?.status === 'completed' && nounOf(data) === 'PDF';
  useEffect(() => {
    if (add === undefined) lastAdded.current = undefined;
    if (data === undefined || !isUsable || add === undefined || lastAdded.current === add) return;
    lastAdded.current = add;
    const source = sourceOf(data);
    onAdd([source]);
    announce(t('{name} is added.', { name: source.name }));
    // A reload must not add it again.
    void navigate({ to: '/documents', search: {}, replace: true });
  }, [add, data, isUsable, navigate, onAdd]);
  if (add !== undefined && error !== null) {
    return (
      <Notice kind="danger">
        {rich('The PDF of {add} could not be added. {error}', { add, error: errorText(error) })}
      </Notice>
    );
  }
  if (add !== undefined && data !== undefined && !isUsable) {
    return (
      <Notice kind="danger">
        {rich('{link} has no PDF that can be added: it has not completed, or made a picture.', {
          link: <RecordLink id={add} />,
        })}
      </Notice>
    );
  }
  return null;
}

type EarlierWorkProps = { readonly onLoad: (request: StoredRequest) => void };

/** Takes over the work of the conversion that the address names, and says so. */
function EarlierWork({ onLoad }: EarlierWorkProps) {
  const { from } = route.useSearch();
  const navigate = useNavigate();
  const lastLoaded = useRef<string>(undefined);
  const { data, error } = useQuery({
    ...conversionRequestQuery(from ?? ''),
    enabled: from !== undefined,
  });
  useEffect(() => {
    if (from === undefined) lastLoaded.current = undefined;
    if (from === undefined || data?.document === undefined || lastLoaded.current === from) return;
    lastLoaded.current = from;
    onLoad(data);
    announce(t('This is the earlier work. Making it again makes a new conversion.'));
    // A reload must show what was edited since.
    void navigate({ to: '/documents', search: {}, replace: true });
  }, [from, data, navigate, onLoad]);
  if (from === undefined || error === null) return null;
  return (
    <Notice kind="danger">
      {rich('The work of {from} could not be loaded. {error}', { from, error: errorText(error) })}
    </Notice>
  );
}
