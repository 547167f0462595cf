/** What people without an account may ask the service. */
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from './error.ts';
import type { components } from './schema.d.ts';

/** @throws {ApiError} the service refused the request */
async function answerTo<Body>(path: string, request?: RequestInit): Promise<Body> {
  const response = await fetch(path, request);
  if (!response.ok) throw await ApiError.from(response);
  return (await response.json()) as Body;
}

/** What this deployment offers to people without an account. */
export const offersQuery = queryOptions({
  queryKey: ['offers'],
  queryFn: ({ signal }) =>
    answerTo<{ readonly public_verify: boolean }>('/dashboard/offers', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Asks whether the service made a PDF, by its SHA-256 alone. */
export const askInPublic = (sha256: string, signal: AbortSignal) =>
  answerTo<components['schemas']['PublicVerification']>('/verify/public', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ sha256 }),
    signal,
  });
