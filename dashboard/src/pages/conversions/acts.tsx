import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccount } from '../../api/people.ts';
import {
  type Conversion,
  conversionFileQuery,
  conversionRequestQuery,
  isEnded,
  LISTS,
  oneConversion,
  repeat,
  renderRecordQuery,
  thumbnailQuery,
} from '../../api/conversions.ts';
import { ACCOUNT, api, dataOf } from '../../api/client.ts';
import { ConfirmButton, DialogButton } from '../../ui/Dialog.tsx';
import { counted } from '../../ui/format.ts';
import { announce } from '../../ui/Toasts.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { Code } from '../../ui/Code.tsx';
import { Loaded } from '../../ui/Page.tsx';
import { formatTime } from '../../ui/records.tsx';

interface Act {
  readonly icon: 'refresh' | 'shield';
  readonly text: string;
  readonly title: string;
  readonly action: string;
  /** The conversion that it makes is said to have been accepted by this. */
  readonly accepted: string;
  readonly how: 'retry' | 'rerender';
  readonly explained: string;
}

const AGAIN: Act = {
  icon: 'refresh',
  text: t('Convert again'),
  title: t('Convert again?'),
  action: t('Convert for one credit'),
  accepted: t('The new conversion was accepted. This page shows it.'),
  how: 'retry',
  explained: t('This makes a new conversion of the same document with the same options.'),
};

const COMPARED: Act = {
  icon: 'shield',
  text: t('Render again and compare'),
  title: t('Render again and compare?'),
  action: t('Render for one credit'),
  accepted: t(
    'The new conversion was accepted. This page shows it, and later how the PDFs compare.',
  ),
  how: 'rerender',
  explained: t(
    'This makes a new conversion of the same document with the same options, and says whether its PDF is equal to this one or which pages differ. A web page is fetched again.',
  ),
};

interface ConvertAgainProps {
  readonly id: string;
  /** True: its PDF is compared with that of the first. */
  readonly compares?: boolean;
}

/** Makes a new conversion of the same document with the same options, after saying what it costs. */
export function ConvertAgain({ id, compares = false }: ConvertAgainProps) {
  const { data: request } = useQuery(conversionRequestQuery(id));
  const { data: account } = useAccount();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // One key until the page is left: a press that is sent twice takes one credit.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  // The request is not stored for ever, and there is nothing to send without it.
  if (request === undefined) return null;
  const act = compares ? COMPARED : AGAIN;
  const convert = async () => {
    const made = await repeat(act.how, id, idempotencyKey);
    void queries.invalidateQueries({ queryKey: LISTS });
    void queries.invalidateQueries({ queryKey: ACCOUNT });
    announce(act.accepted);
    await navigate({ to: '/conversions/$id', params: { id: made } });
  };
  return (
    <ConfirmButton
      icon={act.icon}
      text={act.text}
      title={act.title}
      action={act.action}
      actionLook="primary"
      onConfirm={convert}
    >
      <p>
        {act.explained}
        {account?.credits !== null &&
          t(' It costs one credit, which comes back if the conversion fails.')}
        {account &&
          account.credits !== null &&
          t(' The account has {credits} left.', { credits: counted(account.credits, 'credit') })}
      </p>
    </ConfirmButton>
  );
}

/** @param asked as the person saw it: it may have ended in the meantime */
function doneText(asked: Conversion, now: Conversion): string {
  if (isEnded(asked)) return t('The documents of the conversion are deleted.');
  return now.failure_code === 'cancelled'
    ? t('The conversion is cancelled. Its credit comes back.')
    : t('The conversion had ended before it was cancelled. Its documents are deleted.');
}

/** Cancels what is unfinished, or deletes what is stored of a conversion that has ended. */
export function TakeBack({ record }: { readonly record: Conversion }) {
  const { id, status } = record;
  const queries = useQueryClient();
  const takeBack = async () => {
    const params = { path: { id } };
    await dataOf(api.DELETE('/api/v1/conversions/{id}/', { params }));
    const now = await dataOf(api.GET('/api/v1/conversions/{id}/', { params }));
    announce(doneText(record, now));
    // What may be deleted now is not shown any longer, while the rest is asked for again.
    await Promise.all([
      queries.resetQueries({ queryKey: thumbnailQuery(id).queryKey }),
      queries.resetQueries({ queryKey: conversionRequestQuery(id).queryKey }),
      queries.resetQueries({ queryKey: renderRecordQuery(id).queryKey }),
      queries.resetQueries({ queryKey: conversionFileQuery(id).queryKey }),
      queries.invalidateQueries({ queryKey: oneConversion(id) }),
    ]);
  };
  if (!isEnded(record)) {
    return (
      <ConfirmButton
        icon="cross"
        text={t('Cancel')}
        title={t('Cancel this conversion?')}
        action={t('Cancel the conversion')}
        keepText={t('Let it go on')}
        key="cancel"
        onConfirm={takeBack}
      >
        {t(
          'It ends without a PDF, its credit comes back, and its request is deleted. This cannot be undone.',
        )}
      </ConfirmButton>
    );
  }
  return (
    <ConfirmButton
      icon="trash"
      text={t('Delete')}
      title={t('Delete the documents of this conversion?')}
      action={t('Delete them')}
      key="delete"
      onConfirm={takeBack}
    >
      <p>
        {rich('{value} This cannot be undone.', {
          value:
            status === 'completed'
              ? t(
                  'The PDF, the request and the manifest are deleted at once, and links to the PDF stop working.',
                )
              : t('What is still stored of it, such as its request, is deleted at once.'),
        })}
      </p>
      <p>
        {rich(
          'Its record, its history and their proof stay. The credit does not come back{value}.',
          { value: status === 'failed' && t(' again') },
        )}
      </p>
    </ConfirmButton>
  );
}

/** The end of a link, which its token says (PASETO v4.public: a JSON document before a signature of 64 bytes). */
function endOf(link: string): string {
  const signed = new URL(link).searchParams.get('token')?.split('.')[2] ?? '';
  const text = atob(signed.replaceAll('-', '+').replaceAll('_', '/')).slice(0, -64);
  return (JSON.parse(text) as { readonly exp: string }).exp;
}

/** A link by which anybody can download the file for a while. */
export function Share({ id }: { readonly id: string }) {
  return (
    <DialogButton icon="send" text={t('Share')} title={t('Share by a link')}>
      {() => <NewLink id={id} />}
    </DialogButton>
  );
}

/** Each record has a link of its own, so a new one is asked for each time. */
function NewLink({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: [...oneConversion(id), 'link'],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (
        (await dataOf(api.GET('/api/v1/conversions/{id}/', { params, signal }))).file_url ?? ''
      );
    },
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Loaded query={query} what={t('the link')} lines={2}>
      {(link) => (
        <>
          <p>
            {rich(
              'Whoever has this link can download the file until {formatTime}, without signing in. The timeline shows each download.',
              { formatTime: formatTime(endOf(link)) },
            )}
          </p>
          <Code code={link} copyLabel={t('Copy the link')} wrap />
        </>
      )}
    </Loaded>
  );
}
