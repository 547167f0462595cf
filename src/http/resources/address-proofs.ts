/** The act of an operator who vouches for an address: where nothing else can prove it, or it is to be another one. */
import Type from 'typebox';
import { vouchFor } from '../../accounts/address-proofs.ts';
import { changeEmailFor } from '../../accounts/email-change.ts';
import { loginByAddress } from '../../accounts/password-reset.ts';
import { compile } from '../../requests/validation.ts';
import { Closed, Flag, PERSON, Text } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { NOT_AN_OPERATOR, operatorContext } from '../operator.ts';
import { confirmOperator, PROOF } from './confirm.ts';
import { Reason } from './operator-acts.ts';

/** The body of `POST /operator/addresses/prove/`. */
export const AddressProofRequest = Closed({
  email: Text('ann@example.com', 'The address that the person signs in with.', { maxLength: 254 }),
  new_email: Type.Optional(
    Text('ann@new.example.com', 'The address that they sign in with from now on.', {
      minLength: 1,
      maxLength: 320,
    }),
  ),
  reason: Reason,
  ...PROOF,
});

/** The answer. */
export const ProvenAddress = Closed({
  id: Text(PERSON, 'The person.'),
  email: Text('ann@example.com', 'The address that the person signs in with.'),
  proven: Flag('Always true.', true),
  is_first: Flag(
    'true if nobody had proven an address of the person before: what was there has ended, and an owner invites them again.',
    false,
  ),
});

const check = compile(AddressProofRequest);

export const postAddressProof: Endpoint = {
  doc: {
    id: 'proveAddress',
    tag: 'Operators',
    summary: "Vouch for a person's address",
    description:
      'For a person who joined by a link that no mail brought: until their address is proven, no identity provider is linked to them, and no other account can invite them without mail. Make sure who they are, because whoever had the link may be somebody else: their password, passkeys, second factor, sessions and memberships end, so that an owner invites them again. With `new_email` they sign in with that address from now on; those whose address is proven already keep the rest.',
    body: { schema: AddressProofRequest },
    answers: { 200: { description: 'The address is proven.', schema: ProvenAddress } },
    errors: {
      validation_error: {
        when: 'The body is not valid, the password or the code is not yours, the address is proven already, or the new one is not one or is taken.',
        message: 'email: The address is proven already.',
        details: { email: ['The address is proven already.'] },
      },
      forbidden: {
        ...NOT_AN_OPERATOR,
        when: `${NOT_AN_OPERATOR.when} Or nobody has proven the address, and the person is the only owner of an account.`,
      },
      not_found: {
        when: 'Nobody signs in with the address, or, with `new_email`, the person belongs to no account.',
        message: 'Nobody signs in with ann@example.com.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const given = await deps.bodies.readSmall(ctx, deps.config, check);
    const { email, new_email: other, reason, ...proof } = given;
    await confirmOperator(ctx, deps, proof);
    const login = await loginByAddress(deps, email);
    const contextFor = (owner: string) => operatorContext(ctx, deps, owner, reason);
    if (other === undefined) await vouchFor(deps, login, contextFor);
    else await changeEmailFor(deps, login, other, contextFor);
    ctx.body = {
      id: login.personId,
      email: (other ?? email).trim(),
      proven: true,
      is_first: !login.isProven,
    };
  },
};
