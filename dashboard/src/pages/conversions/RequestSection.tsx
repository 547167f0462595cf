import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import {
  type ConversionEvent,
  conversionRequestQuery,
  deletionOf,
  type StoredRequest,
} from '../../api/conversions.ts';
import { fieldsQuery } from '../../request/fields-query.ts';
import { type Field, labelOf } from '../../request/schema.ts';
import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { Facts } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { decodedBytes, formatBytes, formatNumber } from '../../ui/format.ts';
import { Loading, Notice } from '../../ui/Page.tsx';
import { saveFile } from '../../ui/Dialog.tsx';
import styles from './conversion.module.css';
import { Stored } from './Result.tsx';
import { deletionText } from './words.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

/** More HTML than this makes a page slow, and nobody reads it here. */
const MOST_SHOWN_CHARACTERS = 20_000;

interface RequestSectionProps {
  readonly id: string;
  readonly events: readonly ConversionEvent[];
}

/** The document and the options that a client asked for. */
export function RequestSection({ id, events }: RequestSectionProps) {
  return (
    <Stored
      query={useQuery(conversionRequestQuery(id))}
      what={t('the request')}
      lines={6}
      gone={() => <DeletedRequest id={id} events={events} />}
    >
      {(request) => <StoredRequestView id={id} request={request} />}
    </Stored>
  );
}

const DOTS = '••••••••';
const isPassword = (name: string, value: unknown): boolean =>
  /^([a-z]+_)?password$/.test(name) && typeof value === 'string';

/** A copy with dots in the place of each password, such as those of pdf.encrypt and of steps. */
function withDots(request: StoredRequest) {
  let hasPasswords = false;
  const text = JSON.stringify(request, (name, value: unknown) => {
    if (!isPassword(name, value)) return value;
    hasPasswords = true;
    return DOTS;
  });
  return { hidden: JSON.parse(text) as StoredRequest, hasPasswords };
}

/** The request, whose passwords are not shown to those who look at the screen by chance. */
function StoredRequestView({ id, request }: SourceProps) {
  const [isOpen, setOpen] = useState(false);
  const { hidden, hasPasswords } = useMemo(() => withDots(request), [request]);
  const shown = isOpen ? request : hidden;
  return (
    <>
      {hasPasswords && (
        <div>
          <Button small onPress={() => setOpen(!isOpen)}>
            {isOpen ? t('Hide passwords') : t('Show passwords')}
          </Button>
        </div>
      )}
      <Source request={shown} id={id} />
      {shown.document === undefined && (
        <>
          <h3>{t('Options that were set')}</h3>
          <Options options={shown.options} />
        </>
      )}
    </>
  );
}

/** The parts of a deleted request that the log keeps. By them its client finds it in records of its own. */
function DeletedRequest({ id, events }: RequestSectionProps) {
  const request = events.find(({ type }) => type === 'ConversionRequested');
  const deletion = deletionOf(events);
  const { source, options, idempotencyKey } = request?.data ?? {};
  const documents = { document: t('finished documents'), url: t('a URL'), html: 'HTML' };
  return (
    <>
      <Notice kind="info">
        {rich('{value} Its events and their proof stay in the log.', {
          value:
            deletion === undefined
              ? t('The request is not stored any more.')
              : deletionText(t('The request'), deletion),
        })}
      </Notice>
      {request !== undefined && (
        <>
          <h3>{t('What its client can look for')}</h3>
          <p className="note">
            {t('The sender may have a record of the request, under one of these.')}
          </p>
          <Facts
            facts={{
              [t('Document')]: documents[source as keyof typeof documents] ?? documents.html,
              [t('Sent')]: <Time iso={request.time} relative={false} />,
              [t('Conversion')]: <code>{id}</code>,
              [t('Request id')]: request.request_id && <code>{request.request_id}</code>,
              [t('Idempotency key')]:
                idempotencyKey === undefined
                  ? t('none was sent')
                  : t('one was sent; the log keeps only its hash'),
            }}
          />
          <h3>{t('Options that the log keeps')}</h3>
          <p className="note">
            {t('Those that may quote the document, such as its header, were deleted with it.')}
          </p>
          <Options options={(options ?? {}) as StoredRequest['options']} />
        </>
      )}
    </>
  );
}

/** HTML in colours, once what knows the language is loaded; until then, and without it, as it is. */
function useColours(html: string): ReactNode {
  const [coloured, setColoured] = useState<{ readonly html: string; readonly parts: ReactNode }>();
  useEffect(() => {
    let isGone = false;
    const colour = async () => {
      const { partsOf } = await import('../../ui/highlight.ts');
      if (isGone) return;
      const parts = partsOf(html).map(({ text, color }, index) => (
        <span key={index} style={{ color }}>
          {text}
        </span>
      ));
      setColoured({ html, parts });
    };
    // The text itself is there in any case.
    colour().catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, [html]);
  return coloured?.html === html ? coloured.parts : html;
}

type SourceProps = { readonly request: StoredRequest; readonly id: string };

/** Shows the document as text. An address is not a link: a page that someone else named may be hostile. */
function Source({ request: { html = '', url, document }, id }: SourceProps) {
  if (document !== undefined) {
    const { sources, steps = [] } = document;
    const value =
      sources.length === 1
        ? t('One PDF')
        : t('{length} PDFs, joined in order', { length: formatNumber(sources.length) });
    return (
      <>
        <h3>{t('Work on documents')}</h3>
        <p className="note">{rich('{value}. The history names each by its SHA-256.', { value })}</p>
        <Code
          code={JSON.stringify(steps.length === 0 ? [{ type: 'merge' }] : steps, null, 2)}
          copyLabel={t('Copy the steps')}
        />
      </>
    );
  }
  if (url !== undefined) {
    return (
      <>
        <h3>{t('URL')}</h3>
        <Code code={url} copyLabel={t('Copy the URL')} wrap />
      </>
    );
  }
  return <HtmlSource html={html} id={id} />;
}

function HtmlSource({ html, id }: { readonly html: string; readonly id: string }) {
  const isCut = html.length > MOST_SHOWN_CHARACTERS;
  const code = isCut ? html.slice(0, MOST_SHOWN_CHARACTERS) : html;
  const coloured = useColours(code);
  const save = () => saveFile(new Blob([html], { type: 'text/plain' }), `${id}.html.txt`);
  return (
    <>
      <h3>{t('HTML')}</h3>
      <div className={styles.source}>
        <Code code={code} copyLabel={isCut ? t('Copy this part') : t('Copy the HTML')}>
          {coloured}
        </Code>
      </div>
      {isCut && (
        <p className="line note">
          {t('The first {MOST_SHOWN_CHARACTERS} of {length} characters.', {
            MOST_SHOWN_CHARACTERS: formatNumber(MOST_SHOWN_CHARACTERS),
            length: formatNumber(html.length),
          })}
          <Button small icon="download" onPress={save}>
            {t('Download all of it as text')}
          </Button>
        </p>
      )}
    </>
  );
}

type Fact = [name: string, value: ReactNode];

/** A value as people read it: choices and the fields of a group have the words of the playground. */
function valueOf(value: unknown, field: Field | undefined): ReactNode {
  const { kind, choices = [], fields = [], types = [] } = field ?? {};
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (kind === 'file') return formatBytes(decodedBytes(String(value)));
  if (Array.isArray(value)) {
    const items = value.map((each: unknown) => {
      const type = types.find((one) => one.type === (each as { readonly type?: unknown })?.type);
      return valueOf(each, field && { ...field, fields: type?.fields ?? fields });
    });
    return (
      <ul>
        {items.map((item, index) => (
          <li key={index}>{item}</li>
        ))}
      </ul>
    );
  }
  if (typeof value !== 'object' || value === null) {
    return choices.find((each) => each.value === value)?.label ?? String(value);
  }
  const facts = Object.entries(value).flatMap(([name, each]: [string, unknown]): Fact[] => {
    if (kind === 'record') return [[name, String(each)]];
    if (kind === 'files') return [[name, formatBytes(decodedBytes(String(each)))]];
    return factOf(name, each, fields);
  });
  return <Facts facts={Object.fromEntries(facts)} />;
}

/** What differs from what the service does by itself, under the name that the playground has for it. */
function factOf(name: string, value: unknown, fields: readonly Field[]): Fact[] {
  const field = fields.find((each) => each.name === name);
  if (value === field?.usual || (Array.isArray(value) && value.length === 0)) return [];
  return [[field?.label ?? labelOf(name), valueOf(value, field)]];
}

/** The summary of the page has them. */
const SHOWN_ABOVE: readonly string[] = ['filename', 'reference', 'tags'];

/** The options that were set. */
function Options({ options }: { readonly options: StoredRequest['options'] }) {
  const { data: fields = [], isPending } = useQuery(fieldsQuery('ConversionRequest'));
  if (isPending) return <Loading label={t('Loading the options')} />;
  const shown = Object.entries(options)
    .filter(([name]) => !SHOWN_ABOVE.includes(name))
    .flatMap(([name, value]) => factOf(name, value, fields));
  if (shown.length === 0) return <p className="note">{t('None was set.')}</p>;
  return <Facts facts={Object.fromEntries(shown)} wide />;
}
