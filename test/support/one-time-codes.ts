/** An authenticator, as people have one on their telephone. */
import { TOTP } from 'otpauth';
import { type Api, BASE, PASSWORD } from './api.ts';

/** The code that an authenticator shows, whose clock is ahead by some time. */
export const codeOf = (api: Api, secret: string, aheadMs = 0): string =>
  new TOTP({ secret }).generate({ timestamp: api.clock.time + aheadMs });

/** Sets one up for who is signed in. The code of this moment is used up by it. */
export async function setUpAuthenticator(
  api: Api,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly secret: string; readonly recovery: readonly string[] }> {
  const path = `${BASE}/account/person/totp/`;
  const offer = await api.call('POST', path, { headers });
  const secret = String(offer.body['secret']);
  const proof = { setup: offer.body['setup'], password: PASSWORD, otp: codeOf(api, secret) };
  const added = await api.call('POST', `${path}confirm/`, { headers, body: proof });
  if (added.status !== 200) throw new Error(added.text);
  return { secret, recovery: added.body['recovery_codes'] as string[] };
}
