import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { conversionRequestQuery, renderRecordQuery } from '../../api/conversion-documents.ts';
import {
  type Conversion,
  conversionEventsQuery,
  conversionFileQuery,
  deletionOf,
  isEnded,
  oneConversion,
} from '../../api/conversions.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { announce } from '../../ui/Toasts.tsx';

/** Cancels what is unfinished, or deletes what is stored of a conversion that has ended. */
export function TakeBack({ record }: { readonly record: Conversion }) {
  const { id, status } = record;
  const { data: events, isPending } = useQuery(conversionEventsQuery(id));
  const queries = useQueryClient();
  const takeBack = async (done: string) => {
    await dataOf(api.DELETE('/api/v1/conversions/{id}/', { params: { path: { id } } }));
    announce(done);
    // What may be deleted now is not shown any longer, while the rest is asked for again.
    await Promise.all([
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
        onConfirm={() => takeBack('The conversion is cancelled. Its credit came back.')}
      >
        <p>
          It ends without a PDF, its credit comes back, and its request is deleted. This cannot be
          undone.
        </p>
      </ConfirmButton>
    );
  }
  // Once its documents are deleted, nothing is left to delete.
  if (isPending || deletionOf(events) !== undefined) return null;
  return (
    <ConfirmButton
      icon="trash"
      text="Delete"
      title="Delete the documents of this conversion?"
      action="Delete them"
      onConfirm={() => takeBack('The documents of the conversion are deleted.')}
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
