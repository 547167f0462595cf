/** An API with one account, and what tests of its conversions ask for again and again. */
import { type Answer, type Api, BASE, startApi } from './api.ts';

export const PDF = Buffer.from(`%PDF-1.7\n${'0123456789'.repeat(500)}\n%%EOF\n`);

export async function startWithConversion(
  t: Parameters<typeof startApi>[0],
  options?: Parameters<typeof startApi>[1],
) {
  const api = await startApi(t, options);
  const account = await api.newAccount();
  const create = async () => {
    const body = { html: '<p>x</p>' };
    const answer = await api.call('POST', `${BASE}/pdf/`, { key: account.key, body });
    return answer.body['id'] as string;
  };
  const get = (id: string, headers: Readonly<Record<string, string>> = {}) =>
    api.call('GET', `${BASE}/conversions/${id}/`, { key: account.key, headers });
  return { ...api, account, create, get };
}

export const fileUrl = (answer: Answer): string => answer.body['file_url'] as string;

/** Follows how many requests wait for commits. */
export function countListeners(runner: { onCommit: Api['runner']['onCommit'] }) {
  let count = 0;
  let look: (() => void) | undefined;
  const onCommit = runner.onCommit.bind(runner);
  runner.onCommit = (listener, types) => {
    const end = onCommit(listener, types);
    count += 1;
    look?.();
    return () => {
      end();
      count -= 1;
      look?.();
    };
  };
  return {
    reached: (wanted: number) =>
      new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${count}, not ${wanted}`)), 60_000);
        look = () => {
          if (count !== wanted) return;
          clearTimeout(late);
          resolve();
        };
        look();
      }),
  };
}
