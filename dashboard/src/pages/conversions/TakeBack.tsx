import { useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import {
  type Conversion,
  conversionFileQuery,
  conversionRequestQuery,
  isEnded,
  oneConversion,
  renderRecordQuery,
  thumbnailQuery,
} from '../../api/conversions.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { rich, t } from '../../words/rich.ts';

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
      text="Delete"
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
