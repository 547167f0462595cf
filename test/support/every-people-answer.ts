/** Requests that have the API give each answer about people. */
import { invitationToken } from '../../src/accounts/invitations.ts';
import { offeredEmail } from '../../src/accounts/email-change.ts';
import { type Api, BASE, PASSWORD } from './api.ts';
import { addPasskey, PASSKEYS } from './authenticator.ts';
import { setUpAuthenticator } from './one-time-codes.ts';
import { ownPage, SESSION } from './dashboard.ts';

/** The token of an invitation: that of the link, or, where a mail alone brings it, that of the mail. */
export async function invitedToken(
  api: Api,
  { body }: { readonly body: Readonly<Record<string, unknown>> },
): Promise<string> {
  const { id, link } = body;
  if (typeof link === 'string') return link.split('#').at(-1) ?? '';
  const invitation = (await api.log()).find(
    ({ type, data }) => type === 'MemberInvited' && JSON.parse(data).personId === id,
  );
  if (invitation === undefined) return '';
  return await invitationToken(api, String(JSON.parse(invitation.data).accountId), String(id));
}

/** The header of an access token. */
export async function bearerOf(api: Api, email: string, more: object = {}) {
  const body = { email, password: PASSWORD, ...more };
  const answer = await api.call('POST', `${BASE}/auth/jwt/create/`, { body });
  return { Authorization: `Bearer ${String(answer.body['access'])}` };
}

/** Invites an address, and returns the token of the link. */
export async function invite(
  api: Api,
  headers: Readonly<Record<string, string>>,
  email: string,
  role: string,
  more: object = {},
): Promise<string> {
  const body = { email, role, ...more };
  const answer = await api.call('POST', `${BASE}/account/members/`, { headers, body });
  return await invitedToken(api, answer);
}

/** Accepts an invitation as somebody whose address has no sign-in, or has `PASSWORD`. */
export const accept = (
  api: Api,
  token: string,
  body: object = { name: 'Bob', password: PASSWORD },
  headers: Readonly<Record<string, string>> = {},
) => api.call('POST', `${BASE}/invitations/${token}/accept/`, { body, headers });

/** A member who has joined the account of the owner, with a session there. */
export async function joined(
  api: Api,
  owner: Readonly<Record<string, string>>,
  email: string,
  role: string,
  more: object = {},
) {
  const answer = await accept(api, await invite(api, owner, email, role, more));
  if (answer.status !== 200) throw new Error(answer.text);
  const account = String(answer.body['account']);
  return { id: String(answer.body['id']), headers: await bearerOf(api, email, { account }) };
}

/** Requests of somebody who changes their address. */
async function driveEmailChange(api: Api, owner: Readonly<Record<string, string>>): Promise<void> {
  const { id, headers } = await joined(api, owner, 'rob@example.com', 'member');
  await api.call('POST', `${BASE}/account/email/`, { headers, body: {} });
  const body = { email: 'robert@example.com', password: PASSWORD };
  await api.call('POST', `${BASE}/account/email/`, { headers, body });
  for (const token of ['x', (await offeredEmail(api, id, api.clock.now()))?.token]) {
    for (const as of [owner, headers]) {
      await api.call('POST', `${BASE}/auth/email/confirm/`, { headers: as, body: { token } });
    }
  }
}

/** Requests of somebody with passkeys. */
async function drivePasskeys(api: Api, owner: Readonly<Record<string, string>>): Promise<void> {
  const { id: person, headers } = await joined(api, owner, 'pia@example.com', 'member');
  const { id, authenticator } = await addPasskey(api, headers);
  const one = `${PASSKEYS}${id}/`;
  const elsewhere = { Origin: 'https://elsewhere.example.com' };
  for (const path of [PASSKEYS, `${PASSKEYS}creation/`, `${PASSKEYS}request/`, `${one}remove/`]) {
    await api.call('POST', path, { headers: { ...headers, ...elsewhere }, body: {} });
  }
  await api.call('POST', `${PASSKEYS}request/`, { headers });
  for (const path of [`${PASSKEYS}creation/`, `${one}remove/`]) {
    await api.call('POST', path, { headers, body: { password: 'wrong' } });
  }
  const spare = await addPasskey(api, headers, 'Spare');
  await api.call('PATCH', `${PASSKEYS}x/`, { headers, body: { name: 'Renamed' } });
  const remove = `${PASSKEYS}${spare.id}/remove/`;
  for (const path of [remove, remove]) {
    await api.call('POST', path, { headers, body: { password: PASSWORD } });
  }
  const sessions = [
    [`${BASE}/auth/passkey/create/`, {}],
    [`${SESSION}/passkey`, ownPage()],
  ] as const;
  const account = person.replace('person_', 'acct_');
  for (const more of [{}, { account }]) {
    for (const [path, own] of sessions) {
      const options = await api.call('POST', `${BASE}/auth/passkey/options/`, { body: {} });
      const body = { passkey: authenticator.get(options.body), ...more };
      await api.call('POST', path, { headers: own, body });
      await api.call('POST', path, { headers: own, body });
      await api.call('POST', path, { headers: { ...own, ...elsewhere }, body });
    }
  }
  await api.call('GET', PASSKEYS, { headers });
  await api.call('PATCH', one, { headers, body: { name: 'Renamed' } });
  await api.call('POST', `${BASE}/auth/passkey/options/`, { headers: elsewhere, body: {} });
}

export async function drivePeople(api: Api, email: string): Promise<void> {
  const headers = await bearerOf(api, email);
  await drivePasskeys(api, headers);
  const members = `${BASE}/account/members/`;
  const bob = await joined(api, headers, 'bob@example.com', 'auditor');
  const token = await invite(api, headers, 'carol@example.com', 'owner');
  const self = await api.call('PATCH', `${BASE}/account/person/`, {
    headers,
    body: { name: 'Ada' },
  });
  await api.call('GET', `${BASE}/account/person/`, { headers });
  await api.call('GET', `${BASE}/account/mails/`, { headers });
  await api.call('PATCH', `${BASE}/account/mails/`, { headers, body: { credits_low: true } });
  await api.call('GET', members, { headers });
  const totp = `${BASE}/account/person/totp/`;
  const recovery = `${BASE}/account/person/recovery-codes/`;
  await api.call('GET', totp, { headers });
  for (const path of [`${totp}confirm/`, `${totp}remove/`, recovery]) {
    await api.call('POST', path, { headers, body: {} });
  }
  for (const path of [`${totp}remove/`, recovery]) {
    await api.call('POST', path, { headers, body: { password: PASSWORD } });
  }
  const { recovery: codes } = await setUpAuthenticator(api, bob.headers);
  for (const method of ['GET', 'POST']) await api.call(method, totp, { headers: bob.headers });
  for (const where of [`${BASE}/auth/jwt/create/`, SESSION]) {
    const body = { email: 'bob@example.com', password: PASSWORD };
    await api.call('POST', where, { headers: where === SESSION ? ownPage() : {}, body });
  }
  await api.call('GET', members, { headers });
  await api.call('POST', recovery, { headers: bob.headers, body: { otp: codes[0] } });
  const proof = { password: PASSWORD };
  await api.call('POST', `${totp}remove/`, { headers: bob.headers, body: proof });
  const policy = `${BASE}/account/sign-in-policy/`;
  await api.call('GET', policy, { headers });
  await api.call('PATCH', policy, { headers: bob.headers, body: {} });
  for (const require of ['second_factor', 'none']) {
    await api.call('PATCH', policy, { headers, body: { require } });
  }
  await driveEmailChange(api, headers);
  await api.call('POST', members, { headers: bob.headers, body: {} });
  await api.call('PATCH', `${members}${bob.id}/`, { headers: bob.headers, body: {} });
  const own = `${members}${String(self.body['id'])}/`;
  await api.call('PATCH', own, { headers, body: { role: 'member' } });
  await api.call('DELETE', own, { headers });
  await api.call('PATCH', `${members}${bob.id}/`, { headers, body: { role: 'owner' } });
  await api.call('GET', `${BASE}/invitations/${token}/`);
  await api.call('GET', `${BASE}/invitations/x/`);
  await accept(api, 'x');
  await accept(api, token, {}, headers);
  await accept(api, token, { name: 'Carol', password: PASSWORD }, { Authorization: 'Bearer x' });
  const known = await invite(api, headers, 'dora@example.com', 'member');
  await accept(api, known);
  const again = await invite(api, bob.headers, email, 'owner');
  if (again !== '') throw new Error('She is a member already.');
  await accept(api, token);
  await accept(api, token);
  await api.call('GET', `${BASE}/invitations/${token}/`);
  await api.call('DELETE', `${members}${bob.id}/`, { headers });
  const pairs = { removed: { email: 'bob@example.com' }, foreign: { email, account: bob.id } };
  for (const pair of Object.values(pairs)) {
    const account = 'account' in pair ? { account: pair.account.replace('person_', 'acct_') } : {};
    const body = { email: pair.email, password: PASSWORD, ...account };
    await api.call('POST', `${BASE}/auth/jwt/create/`, { body });
    await api.call('POST', SESSION, { headers: ownPage(), body });
  }
}
