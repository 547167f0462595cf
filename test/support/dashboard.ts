import type { Answer } from './api.ts';

export const SESSION = '/dashboard/session';

/** The headers of a request that a page of the dashboard sends. */
export const ownPage = (cookie?: string): Readonly<Record<string, string>> => ({
  'Sec-Fetch-Site': 'same-origin',
  ...(cookie === undefined ? {} : { Cookie: cookie }),
});

/** The cookie that an answer sets, as a browser sends it: its name and its value. */
export function sessionCookie(answer: Answer): string {
  const [cookie] = (answer.headers.get('set-cookie') ?? '').split(';');
  if (!cookie) throw new Error('The answer sets no cookie.');
  return cookie;
}
