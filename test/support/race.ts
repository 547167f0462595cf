/** Requests sent at once, to one API process or to several on one store. */
import { setTimeout as pause } from 'node:timers/promises';
import { BASE } from './api.ts';

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
  readonly error: string | undefined;
}

/**
 * Sends the requests in one breath, in turn to each origin, and reads every answer. A 503 says that nothing of the
 * request was taken, as a loaded machine makes a service answer: it is sent again when the answer says.
 */
export async function race(
  origins: readonly string[],
  count: number,
  key: string,
  { html = '<p>x</p>', headers = {} }: { html?: string; headers?: Record<string, string> } = {},
): Promise<Answered[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const send = async (): Promise<Response> => {
        const answer = await fetch(`${origins[n % origins.length]}${BASE}/pdf/`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...headers },
          body: JSON.stringify({ html }),
        });
        if (answer.status !== 503) return answer;
        await answer.body?.cancel();
        await pause(Number(answer.headers.get('retry-after')) * 1000);
        return await send();
      };
      const answer = await send();
      const text = await answer.text();
      const { error } = JSON.parse(text) as { error?: string };
      const replayed = answer.headers.get('idempotent-replayed') === 'true';
      return { status: answer.status, text, replayed, error };
    }),
  );
}

/** How many answers there are of each kind, such as `202` or `402 insufficient_credits`. */
export function tally(answers: readonly Answered[]): Record<string, number> {
  const kinds = Map.groupBy(answers, ({ status, error }) => [status, error ?? []].flat().join(' '));
  return Object.fromEntries([...kinds].map(([kind, { length }]) => [kind, length]));
}
