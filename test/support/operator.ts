/** Somebody who is signed in, as an operator or not. */
import { setOperator } from '../../src/use-cases/administration.ts';
import { type Api, type Answer, BASE, type CallOptions, PASSWORD } from './api.ts';

/** Signs in to the account; @returns the header of its access token */
export async function signedIn(api: Api, email: string) {
  const body = { email, password: PASSWORD };
  const { status, text, body: pair } = await api.call('POST', `${BASE}/auth/jwt/create/`, { body });
  if (status !== 200) throw new Error(text);
  return { Authorization: `Bearer ${String(pair['access'])}` };
}

/** Opens an account, makes it an operator and signs in to it. */
export async function newOperator(api: Api) {
  const account = await api.newAccount();
  await setOperator(api, account.id, true, api.context());
  const headers = await signedIn(api, account.email);
  const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
    api.call(method, `${BASE}/operator${path}`, {
      ...options,
      headers: { ...headers, ...options.headers },
    });
  return { ...account, headers, call };
}
