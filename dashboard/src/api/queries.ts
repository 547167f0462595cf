/** How the pages ask, and keep the answers. */
import { QueryClient } from '@tanstack/react-query';
import { SessionEndedError } from '../session/session.ts';
import { ApiError } from './error.ts';

const MOST_RETRIES = 2;
const STALE_MS = 10_000;

/** Only what may pass by itself is asked for again: a lost connection, or a service that is busy. */
function mayPass(error: Error): boolean {
  if (error instanceof SessionEndedError) return false;
  return !(error instanceof ApiError) || error.status === 503;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (failures, error) => failures < MOST_RETRIES && mayPass(error),
    },
  },
});

/** The key of the account of the person who is signed in. */
export const ACCOUNT = ['account'] as const;
