import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { conversionRequestQuery, convertAgain } from '../../api/conversion-documents.ts';
import { LISTS } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { errorText } from '../../ui/ErrorState.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { announce } from '../../ui/Toasts.tsx';

/** Makes a new conversion of the same document with the same options, after saying what it costs. */
export function ConvertAgain({ id }: { readonly id: string }) {
  const request = useQuery(conversionRequestQuery(id));
  const [isOpen, setOpen] = useState(false);
  // The request is not stored for ever, and there is nothing to send without it.
  if (request.data === undefined) return null;
  return (
    <>
      <Button icon="refresh" onPress={() => setOpen(true)}>
        Convert again
      </Button>
      {isOpen && <ConvertAgainDialog id={id} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ConvertAgainDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

function ConvertAgainDialog({ id, onClose }: ConvertAgainDialogProps) {
  const { data: account } = useAccount();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // One key for each time that the dialog is opened: a press that is sent twice takes one credit.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const convert = async () => {
    setPending(true);
    setFailure(undefined);
    try {
      const request = await queries.ensureQueryData(conversionRequestQuery(id));
      const made = await convertAgain(request, idempotencyKey);
      void queries.invalidateQueries({ queryKey: LISTS });
      void queries.invalidateQueries({ queryKey: ['account'] });
      onClose();
      announce('The new conversion was accepted. This page shows it.');
      await navigate({ to: '/conversions/$id', params: { id: made } });
    } catch (error) {
      setFailure(error);
      setPending(false);
    }
  };
  return (
    <Dialog title="Convert again?" isOpen onClose={onClose}>
      <p>
        This makes a new conversion of the same document with the same options. It costs one credit,
        which comes back if the conversion fails.
        {account !== undefined && ` The account has ${creditsText(account.credits)}.`}
      </p>
      {failure !== undefined && (
        <Notice kind="danger">
          {errorText(failure)}{' '}
          {failure instanceof ApiError && failure.code === 'insufficient_credits' && (
            <Link to="/usage">See the credits</Link>
          )}
        </Notice>
      )}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        <Button look="primary" isPending={isPending} onPress={() => void convert()}>
          Convert for one credit
        </Button>
      </DialogActions>
    </Dialog>
  );
}

const creditsText = (credits: number): string =>
  credits === 1 ? '1 credit left' : `${formatNumber(credits)} credits left`;
