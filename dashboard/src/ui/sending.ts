import { useState } from 'react';

/** The state of what a button sends: whether it is under way, and why it failed. */
export function useSending() {
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  return {
    isPending,
    failure,
    forget: () => setFailure(undefined),
    /** @returns whether it was sent */
    send: async (sending: () => Promise<unknown>): Promise<boolean> => {
      setPending(true);
      setFailure(undefined);
      try {
        await sending();
        return true;
      } catch (error) {
        setFailure(error);
        return false;
      } finally {
        setPending(false);
      }
    },
  };
}
