import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { conversionRequestQuery, convertAgain } from '../../api/conversion-documents.ts';
import { LISTS } from '../../api/conversions.ts';
import { ACCOUNT } from '../../api/queries.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { counted } from '../../ui/format.ts';
import { announce } from '../../ui/Toasts.tsx';

/** Makes a new conversion of the same document with the same options, after saying what it costs. */
export function ConvertAgain({ id }: { readonly id: string }) {
  const { data: request } = useQuery(conversionRequestQuery(id));
  const { data: account } = useAccount();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // One key until the page is left: a press that is sent twice takes one credit.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  // The request is not stored for ever, and there is nothing to send without it.
  if (request === undefined) return null;
  const convert = async () => {
    const made = await convertAgain(id, idempotencyKey);
    void queries.invalidateQueries({ queryKey: LISTS });
    void queries.invalidateQueries({ queryKey: ACCOUNT });
    announce('The new conversion was accepted. This page shows it.');
    await navigate({ to: '/conversions/$id', params: { id: made } });
  };
  return (
    <ConfirmButton
      icon="refresh"
      text="Convert again"
      title="Convert again?"
      action="Convert for one credit"
      actionLook="primary"
      onConfirm={convert}
    >
      <p>
        This makes a new conversion of the same document with the same options. It costs one credit,
        which comes back if the conversion fails.
        {account && ` The account has ${counted(account.credits, 'credit')} left.`}
      </p>
    </ConfirmButton>
  );
}
