/** Somebody who is signed in, as an operator or not. */

import { openAccount, sendToAccount } from '../../src/accounts/accounts.ts';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { loginOf } from '../../src/accounts/logins.ts';
import { setPassword } from '../../src/accounts/password-reset.ts';
import { founderOf } from '../../src/domain/members.ts';
import { type Answer, type Api, BASE, type CallOptions, PASSWORD } from './api.ts';

/** Signs in to the account. */
export async function tokensOf(api: Api, email: string, password = PASSWORD) {
  const body = { email, password };
  const { status, text, body: pair } = await api.call('POST', `${BASE}/auth/jwt/create/`, { body });
  if (status !== 200) throw new Error(text);
  return { access: String(pair['access']), refresh: String(pair['refresh']) };
}

/** Signs in to the account; @returns the header of its access token */
export async function signedIn(api: Api, email: string, password?: string) {
  return { Authorization: `Bearer ${(await tokensOf(api, email, password)).access}` };
}

/** Opens the account of the first start, with a key. */
export async function firstAccount(api: Api) {
  const request = { email: 'admin@localhost', plan: 'pro', credits: 100, isFirst: true } as const;
  const { id, email } = await openAccount(api, { ...request, password: PASSWORD }, api.context());
  const { key } = await createApiKey(api, id, 'first key', api.context());
  return { id, email, key };
}

/** Makes an account an operator or not, also the last one that there is. */
export async function setOperator(api: Api, accountId: string, isOperator: boolean): Promise<void> {
  const type = isOperator ? 'GrantOperator' : 'RevokeOperator';
  await sendToAccount(api, { type, accountId }, api.context());
}

/** Does what `account password` does for the founder of the account. */
export async function setPasswordOf(api: Api, accountId: string, password: string): Promise<void> {
  const login = await loginOf(api, founderOf(accountId));
  if (login === undefined) throw new Error('The founder has no sign-in.');
  await setPassword(api, login, password, async () => api.context());
}

/** Opens an account, makes it an operator and signs in to it. */
export async function newOperator(api: Api) {
  const account = await api.newAccount();
  await setOperator(api, account.id, true);
  const headers = await signedIn(api, account.email);
  const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
    api.call(method, `${BASE}/operator${path}`, {
      ...options,
      headers: { ...headers, ...options.headers },
    });
  return { ...account, headers, call };
}
