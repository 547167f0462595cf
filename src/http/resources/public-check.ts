/** The check of a PDF by people without an account, and what the pages must know before anybody signs in. */
import Type from 'typebox';
import { checkInPublic } from '../../log/public-check.ts';
import { Closed, Count, Flag, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { checkVerifyRequest, VerifyRequest } from './evidence.ts';
import { CHECKPOINT, HASH, ORIGIN, PROVEN_EVENT } from './transparency-log.ts';

const STATEMENT = `pressledger-pdf/v1\norigin ${ORIGIN}\nsha256 a2a90d44…\ncreated 2026-11-21T08:15:30.123Z\nevent 42 ${HASH}\n\n— ${ORIGIN} x08go0mJ…\n`;

const PublicEntry = Closed({
  index: Count('The number of the event in the log, from 0.', PROVEN_EVENT.index),
  leaf: Text(HASH, 'The hash of the event, in base64. The event itself is its account’s.'),
  proof: Text(
    PROVEN_EVENT.proof,
    'The inclusion proof of the hash, as c2sp.org/tlog-proof has it.',
  ),
  statement: Text(
    STATEMENT,
    'What the service says of the event, signed with the keys of the log: that the event with this hash names the PDF.',
  ),
});

/** The answer of `POST /verify/public`. */
export const PublicVerification = Closed({
  known: Flag(
    'true if the service made exactly this PDF, for an account that is not erased, and not by a test key.',
    true,
  ),
  created_at: Type.Optional(Timestamp('When the PDF was requested.')),
  by: Type.Optional(
    Text('Ada’s Bakery', 'The name that the account gave itself, if it did. It is not checked.'),
  ),
  checkpoint: Text(CHECKPOINT, 'The signed checkpoint, as c2sp.org/tlog-checkpoint has it.'),
  entries: Type.Optional(
    Type.Array(PublicEntry, { description: 'The event that the PDF was stored with.' }),
  ),
});

const entry = {
  index: PROVEN_EVENT.index,
  leaf: HASH,
  proof: PROVEN_EVENT.proof,
  statement: STATEMENT,
};
const known = {
  known: true,
  created_at: '2026-11-21T08:15:30.123Z',
  checkpoint: CHECKPOINT,
  entries: [entry],
};

export const verifyInPublic: Endpoint = {
  doc: {
    id: 'verifyPdfInPublic',
    tag: 'Transparency log',
    summary: 'Verify a PDF without an account',
    description:
      'Tells anybody whether the service made the PDF with this SHA-256, and when. The PDF itself is not sent. It is offered only with PUBLIC_VERIFY=true. The answer about a PDF that is not known takes as long. A PDF of an erased account is not known, nor is one that a test key made.',
    body: { schema: VerifyRequest },
    answers: {
      200: {
        description: 'Only known and checkpoint, if known is false.',
        schema: PublicVerification,
        examples: {
          known,
          named: { ...known, by: 'Ada’s Bakery' },
          unknown: { known: false, checkpoint: CHECKPOINT },
        },
      },
    },
    errors: {
      not_found: {
        when: 'The deployment does not offer it.',
        message: 'There is no such resource. The API is described at /docs.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { sha256 } = await deps.bodies.readSmall(ctx, deps.config, checkVerifyRequest);
    ctx.body = await checkInPublic(deps, sha256.toLowerCase());
  },
};

/** The answer of `GET /dashboard/offers`. */
export const DashboardOffers = Closed({
  public_verify: Flag('true if POST /verify/public is offered.', false),
  sign_up: Type.Enum(['closed', 'invitation', 'open'], {
    description: 'Who may open an account: operators alone, whom they invite, or everybody.',
    examples: ['closed'],
  }),
  provider: OrNull(
    Text('login.example.com', 'The identity provider that people can sign in with; null: none.'),
  ),
  mail: Flag('true if the service mails links that set a password.', false),
});

export const getOffers: Endpoint = {
  doc: {
    id: 'getDashboardOffers',
    tag: 'Dashboard',
    summary: 'Retrieve what this deployment offers',
    answers: { 200: { description: 'What is offered.', schema: DashboardOffers } },
  },
  handler:
    ({ config, identityProvider }) =>
    (ctx) => {
      const mail = config.smtpUrl !== undefined;
      const provider = identityProvider?.label ?? null;
      const { publicVerify, signUp } = config;
      ctx.body = { public_verify: publicVerify, sign_up: signUp, provider, mail };
    },
};
