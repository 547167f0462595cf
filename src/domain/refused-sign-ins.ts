/** Events of refused sign-ins in one sentence, for people. */
import type { ProviderRefusalReason } from './choices.ts';
import type { EventOf } from './events.ts';
import { WRONG_CODES_A_DAY } from './second-factor.ts';

const PROVIDER_REASONS: Readonly<Record<ProviderRefusalReason, string>> = {
  unverified: 'the provider has not verified the address',
  'not-admitted': 'the settings do not let the person in',
  unknown: 'nobody here has the address',
  unproven: 'nobody has proven that the address is theirs',
  'other-person': 'the person is another one at the provider',
  'no-account': 'the person belongs to no account that lets them in',
  full: 'the account has as many members as it may have',
  'too-many': 'there were too many sign-ins',
};
const providerRefusal = (reason: ProviderRefusalReason): string =>
  `A sign-in with the identity provider was refused: ${PROVIDER_REASONS[reason]}.`;

export function refusedSignIn({ isCode, byProvider }: EventOf<'SignInRefused'>['data']): string {
  if (byProvider !== undefined) return providerRefusal(byProvider);
  return isCode
    ? 'A wrong code of a second factor was refused.'
    : 'A wrong password or passkey was refused.';
}

export const refusedUnknownSignIn = ({
  byProvider,
}: EventOf<'UnknownSignInRefused'>['data']): string =>
  byProvider === undefined
    ? 'A sign-in was refused, because nobody signs in with the address or the passkey.'
    : providerRefusal(byProvider);

export const refusedCode = ({ count }: EventOf<'SecondFactorRefused'>['data']): string =>
  `A wrong code of a second factor was refused. ${
    count < WRONG_CODES_A_DAY
      ? `It was number ${count} of this day.`
      : 'No more codes are taken this day, except recovery codes: somebody may know the password.'
  }`;
