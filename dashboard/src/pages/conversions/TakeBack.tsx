import { useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import {
  conversionRequestQuery,
  renderRecordQuery,
  thumbnailQuery,
} from '../../api/conversion-documents.ts';
import {
  type Conversion,
  conversionFileQuery,
  isEnded,
  oneConversion,
} from '../../api/conversions.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { announce } from '../../ui/Toasts.tsx';

/** @param asked as the person saw it: it may have ended in the meantime */
function doneText(asked: Conversion, now: Conversion): string {
  if (isEnded(asked)) return 'The documents of the conversion are deleted.';
  return now.failure_code === 'cancelled'
    ? 'The conversion is cancelled. Its credit comes back.'
    : 'The conversion had ended before it was cancelled. Its documents are deleted.';
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
        text="Cancel"
        title="Cancel this conversion?"
        action="Cancel the conversion"
        keepText="Let it go on"
        key="cancel"
        onConfirm={takeBack}
      >
        <p>
          It ends without a PDF, its credit comes back, and its request is deleted. This cannot be
          undone.
        </p>
      </ConfirmButton>
    );
  }
  return (
    <ConfirmButton
      icon="trash"
      text="Delete"
      title="Delete the documents of this conversion?"
      action="Delete them"
      key="delete"
      onConfirm={takeBack}
    >
      <p>
        {status === 'completed'
          ? 'The PDF, the request and the manifest are deleted at once, and links to the PDF stop working.'
          : 'What is still stored of it, such as its request, is deleted at once.'}{' '}
        This cannot be undone.
      </p>
      <p>
        Its record, its history and their proof stay. The credit does not come back
        {status === 'failed' && ' again'}.
      </p>
    </ConfirmButton>
  );
}
