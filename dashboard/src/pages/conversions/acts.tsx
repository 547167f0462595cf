import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccount } from '../../api/people.ts';
import {
  type Conversion,
  conversionRequestQuery,
  isEnded,
  LISTS,
  oneConversion,
} from '../../api/conversions.ts';
import { ACCOUNT, api, dataOf } from '../../api/client.ts';
import { ConfirmButton, DialogButton } from '../../ui/Dialog.tsx';
import { counted } from '../../ui/format.ts';
import { announce } from '../../ui/Toasts.tsx';
import { t } from '../../words/words.ts';

/** The acts that make a new conversion of a stored request; by `rerender` its PDF is compared with that of the first. */
const REPEATS = {
  retry: {
    button: {
      icon: 'refresh',
      text: t('Convert again'),
      title: t('Convert again?'),
      action: t('Convert for one credit'),
    },
    accepted: t('The new conversion was accepted. This page shows it.'),
    explained: t('This makes a new conversion of the same document with the same options.'),
  },
  rerender: {
    button: {
      icon: 'shield',
      text: t('Render again and compare'),
      title: t('Render again and compare?'),
      action: t('Render for one credit'),
    },
    accepted: t(
      'The new conversion was accepted. This page shows it, and later how the PDFs compare.',
    ),
    explained: t(
      'This makes a new conversion of the same document with the same options, and says whether its PDF is equal to this one or which pages differ. A web page is fetched again.',
    ),
  },
} as const;

interface ConvertAgainProps {
  readonly record: Conversion;
  readonly how: keyof typeof REPEATS;
}

/** Makes a new conversion of the same document with the same options, after saying what it costs. */
export function ConvertAgain({ record: { id, test = false }, how }: ConvertAgainProps) {
  const { data: request } = useQuery(conversionRequestQuery(id));
  const { data: account } = useAccount();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // One key until the page is left: a press that is sent twice takes one credit.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  // The request is not stored for ever, and there is nothing to send without it.
  if (request === undefined || account === undefined) return null;
  const { button, accepted, explained } = REPEATS[how];
  const { action, ...look } = button;
  // What repeats a test is one, and costs nothing.
  const credits = test ? null : account.credits;
  if (credits === 0) {
    return (
      <DialogButton {...look}>
        {() => (
          <p>
            {explained} {t('It costs one credit, and the account has none left.')}{' '}
            <Link to="/usage">{t('See the credits')}</Link>
          </p>
        )}
      </DialogButton>
    );
  }
  const convert = async () => {
    const params = { path: { id }, header: { 'Idempotency-Key': idempotencyKey } };
    const path = `/api/v1/conversions/{id}/${how}/` as const;
    const made = await dataOf(api.POST(path, { params }));
    void queries.invalidateQueries({ queryKey: LISTS });
    void queries.invalidateQueries({ queryKey: ACCOUNT });
    announce(accepted);
    await navigate({ to: '/conversions/$id', params: { id: made.id } });
  };
  return (
    <ConfirmButton
      {...look}
      action={credits === null ? look.text : action}
      actionLook="primary"
      onConfirm={convert}
    >
      <p>
        {explained}
        {credits !== null &&
          t(
            ' It costs one credit, which comes back if the conversion fails. The account has {credits} left.',
            { credits: counted(credits, 'credit') },
          )}
      </p>
    </ConfirmButton>
  );
}

/** By what there is to take back. */
const TAKE_BACK = {
  unfinished: {
    icon: 'cross',
    text: t('Cancel'),
    title: t('Cancel this conversion?'),
    action: t('Cancel the conversion'),
    keepText: t('Let it go on'),
    explained: t(
      'It ends without a PDF, a credit that it took comes back, and its request is deleted. This cannot be undone.',
    ),
  },
  ended: {
    icon: 'trash',
    text: t('Delete'),
    title: t('Delete the documents of this conversion?'),
    action: t('Delete them'),
    explained: t(
      'All that is stored of it is deleted at once: the file, the request, the manifest. Links to it stop working. This cannot be undone. Its record, its history and their proof stay; no credit comes back for it.',
    ),
  },
} as const;

/** Cancels what is unfinished, or deletes what is stored of a conversion that has ended. */
export function TakeBack({ record }: { readonly record: Conversion }) {
  const { id } = record;
  const queries = useQueryClient();
  const takeBack = async () => {
    const params = { path: { id } };
    await dataOf(api.DELETE('/api/v1/conversions/{id}/', { params }));
    const now = await dataOf(api.GET('/api/v1/conversions/{id}/', { params }));
    // What may be deleted now is not shown any longer, while the rest is asked for again.
    const stored = queries.resetQueries({
      queryKey: oneConversion(id),
      predicate: ({ queryKey: [, , part] }) => part !== 'record' && part !== 'events',
    });
    await Promise.all([stored, queries.invalidateQueries({ queryKey: oneConversion(id) })]);
    if (isEnded(record)) return t('The documents of the conversion are deleted.');
    return now.failure_code === 'cancelled'
      ? t('The conversion is cancelled. A credit that it took comes back.')
      : t('The conversion had ended before it was cancelled. Its documents are deleted.');
  };
  const kind = isEnded(record) ? 'ended' : 'unfinished';
  const { explained, ...texts } = TAKE_BACK[kind];
  return (
    <ConfirmButton key={kind} {...texts} onConfirm={takeBack}>
      <p>{explained}</p>
    </ConfirmButton>
  );
}
