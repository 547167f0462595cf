import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { samplesOfWork, STEPS_FILE } from '../../../../samples/documents.ts';
import { jsonOf, shortJsonOf } from '../../../../samples/json.ts';
import { api } from '../../api/client.ts';
import {
  type Conversion,
  conversionQuery,
  conversionRequestQuery,
  nounOf,
} from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import type { Account } from '../../api/people.ts';
import { type Converted, refresh, sendOnce, untilEnded } from '../../request/convert.ts';
import { useDraft, useSent, useTaken } from '../../request/draft.ts';
import type { FieldErrors } from '../../request/Framed.tsx';
import { Items } from '../../request/OptionField.tsx';
import { Ended, Result, summaryOf } from '../../request/Result.tsx';
import type { Field } from '../../request/schema.ts';
import { labelOfPath, listOf, placesIn, type Values } from '../../request/values.ts';
import { CodeSamples, NotTaken, RequestPage, Workbench } from '../../request/Workbench.tsx';
import { contentOf } from '../../ui/chosen-files.ts';
import { counted } from '../../ui/format.ts';
import { EmptyState, Notice, Section } from '../../ui/Page.tsx';
import { RecordLink } from '../../ui/records.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { Parts } from './Parts.tsx';
import { SourceList } from './SourceList.tsx';
import { draftOf, formOf, sampleOf, type Source, sourceOf, sourcesIn, workOf } from './work.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const LEAD = t(
  'Join, split, turn, stamp, encrypt or otherwise change PDFs that you have, or that were made here.',
);

export default function DocumentsPage() {
  return (
    <RequestPage title={t('Documents')} lead={LEAD} request="DocumentRequest">
      {(owner, fields) => <Documents key={owner.id} account={owner} fields={fields} />}
    </RequestPage>
  );
}

/** A conversion that has ended, or the batch of the parts of a split. */
type Made = Converted | { readonly batch: string; readonly conversions: readonly string[] };

const keys = new IdempotencyKeys();

async function send(fields: readonly Field[], draft: Values): Promise<Made> {
  const work = workOf(fields, draft);
  // Read before it is sent: of a file that was moved meanwhile, `fetch` says the same as of a lost connection.
  const files = await Promise.all(
    work.files.map(async (file) => new File([await contentOf(file)], file.name)),
  );
  const answer = await sendOnce(keys, JSON.stringify([placesIn(draft), work.request]), (header) =>
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

/** What has forms of its own. */
const OWN: readonly string[] = ['sources', 'steps'];

type DocumentsProps = { readonly account: Account; readonly fields: readonly Field[] };

function Documents({ account, fields }: DocumentsProps) {
  const edited = useDraft<Values>(`documents ${account.id}`, () => ({}));
  const { draft } = edited;
  const { sent, isInPlace, note } = useSent(draft, edited.number);
  const work = useMutation({
    mutationFn: () => {
      note();
      return send(fields, draft);
    },
    onSettled: refresh,
  });
  const { data: made, error, isPending } = work;
  const { change, undo } = edited;
  const bringBack = () => {
    work.reset();
    undo?.();
  };
  const replace = (next: Values) => {
    work.reset();
    edited.replace({ ...emptyOf(fields), ...next });
  };
  const add = (added: readonly Source[]) =>
    change((now) => ({ sources: [...sourcesIn(now), ...added] }));
  const errors: FieldErrors = isInPlace && error instanceof ApiError ? error.details : {};
  const steps = fields.find(({ name }) => name === 'steps');
  const isSplit = listOf(draft['steps']).some(({ type }) => type === 'split');
  return (
    <Workbench
      notice={<Taken fields={fields} onAdd={add} onLoad={replace} />}
      undo={undo && bringBack}
      source={
        <>
          <SourceList
            sources={sourcesIn(draft)}
            most={fields.find(({ name }) => name === 'sources')?.most ?? 0}
            onAdd={add}
            onChange={(sources) => change({ sources })}
            errors={errors}
          />
          {steps && (
            <Section title={steps.label} lead={steps.description}>
              <Items
                field={steps}
                path="steps"
                value={draft['steps']}
                onChange={(next) => change({ steps: next })}
                errors={errors}
              />
            </Section>
          )}
        </>
      }
      fields={fields.filter(({ name }) => !OWN.includes(name))}
      values={draft}
      onChange={change}
      onReset={() => replace({})}
      errors={errors}
      paid={isSplit ? t('Each part') : t('The new PDF')}
      credits={account.credits}
      action={isSplit ? t('Make the parts') : t('Make the PDF')}
      isPending={isPending}
      onSend={work.mutate}
      result={
        <Result
          isPending={isPending}
          failure={error}
          labelOf={(path) => labelOfPath(fields, path, sent)}
          summary={madeText(made)}
        >
          <Shown made={made} />
        </Result>
      }
      samples={<Samples {...{ draft, fields }} />}
    />
  );
}

const emptyOf = (fields: readonly Field[]): Values =>
  Object.fromEntries(fields.map(({ name }) => [name, undefined]));

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
  return 'batch' in made ? <Parts {...made} /> : <Ended converted={made} />;
}

type SamplesProps = { readonly draft: Values; readonly fields: readonly Field[] };

function Samples({ draft, fields }: SamplesProps) {
  const work = sampleOf(fields, draft, location.origin);
  const isLong = shortJsonOf(work.steps) === undefined;
  return (
    <>
      <p className="note">
        {t('If all PDFs were made here and are not split, there are samples in more languages.')}
      </p>
      <CodeSamples
        samples={samplesOfWork(work)}
        long={
          isLong
            ? { what: t('The steps are'), file: STEPS_FILE, json: jsonOf(work.steps) }
            : undefined
        }
      />
    </>
  );
}

const route = getRouteApi('/signed-in/documents');

interface TakenProps {
  readonly fields: readonly Field[];
  readonly onAdd: (added: readonly Source[]) => void;
  readonly onLoad: (draft: Values) => void;
}

/** Adds the PDF of the conversion that the address names, or takes over its work. */
function Taken({ fields, onAdd, onLoad }: TakenProps) {
  const { add, from } = route.useSearch();
  const added = useQuery({ ...conversionQuery(add ?? ''), enabled: add !== undefined });
  const earlier = useQuery({ ...conversionRequestQuery(from ?? ''), enabled: from !== undefined });
  const { data } = added;
  const isUsable = data?.status === 'completed' && nounOf(data) === 'PDF';
  useTaken(add, isUsable ? data : undefined, (conversion) => {
    const source = sourceOf(conversion);
    onAdd([source]);
    announce(t('“{name}” is added.', { name: source.name }));
  });
  useTaken(from, earlier.data?.document && earlier.data, (request) => {
    onLoad(draftOf(fields, request));
    announce(t('This is the earlier work. Making it again makes a new conversion.'));
  });
  return (
    <>
      <NotTaken named={add} error={added.error} />
      <NotTaken named={from} error={earlier.error} />
      {add !== undefined && data !== undefined && !isUsable && (
        <Notice kind="danger">
          {rich('{link} has no PDF that can be added: it has not completed, or made a picture.', {
            link: <RecordLink id={add} />,
          })}
        </Notice>
      )}
    </>
  );
}
