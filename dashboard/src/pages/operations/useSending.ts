import { useState } from 'react';
import { ApiError } from '../../api/error.ts';
import { errorText } from '../../ui/ErrorState.tsx';

/**
 * The state of what a form sends: whether it is under way, and why it was refused.
 * @param fields those that show their own errors
 */
export function useSending(fields: readonly string[]) {
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const details = failure instanceof ApiError ? failure.details : {};
  const errorOf = (field: string): string | undefined => details[field]?.join(' ');
  const isAtField = fields.some((field) => details[field] !== undefined);
  return {
    isPending,
    errorOf,
    /** The error that belongs to no field. */
    otherError: failure === undefined || isAtField ? undefined : errorText(failure),
    clear: () => setFailure(undefined),
    send: async (sending: () => Promise<void>): Promise<void> => {
      setPending(true);
      setFailure(undefined);
      try {
        await sending();
      } catch (error) {
        setFailure(error);
      } finally {
        setPending(false);
      }
    },
  };
}
