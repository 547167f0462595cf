/** The document's components, made of the TypeBox schemas that judge requests and answers. */
import { AddressProofRequest, ProvenAddress } from '../resources/address-proofs.ts';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { ERRORS, type ErrorCode } from '../../errors/errors.ts';
import { DocumentRequest, Source, Step } from '../../requests/documents-schema.ts';
import { withWords } from '../../requests/form-words.ts';
import { STEP_FORMS } from '../../requests/step-words.ts';
import { ConversionRequest, Cookie } from '../../requests/schema.ts';
import { Account, LedgerEntry, PasswordChange } from '../resources/account.ts';
import { ApiKey, ApiKeyRequest, CreatedApiKey } from '../resources/api-keys.ts';
import {
  Authenticator,
  AuthenticatorOffer,
  LostAuthenticator,
  RecoveryCodes,
} from '../resources/authenticator.ts';
import { RefreshRequest, SignInRequest, TokenPair } from '../resources/auth.ts';
import { Batch } from '../resources/batches.api.ts';
import { RenderManifest, StoredRequest } from '../resources/conversion-documents.api.ts';
import { Conversion, ConversionStatus } from '../resources/conversion-record.api.ts';
import { WorkAnswer } from '../resources/documents.api.ts';
import { DashboardAccess } from '../resources/dashboard-session.ts';
import { HistoryEntry } from '../resources/history.ts';
import {
  AccountDetails,
  AccountOpening,
  CreditGrant,
  ErasureRequest,
  HoldRequest,
  OpenedAccount,
  PlanChange,
} from '../resources/operator-accounts.api.ts';
import { Failure, FailureGroup } from '../resources/operator-failures.ts';
import { ProjectionState, ServiceStatus, SignedCheckpoint } from '../resources/operator-service.ts';
import { AccountActivity, ServiceActivity } from '../resources/operator-activity.ts';
import { SuspensionRequest } from '../resources/operator-suspension.ts';
import { InvitedMember, Member, OpenInvitation, Person } from '../resources/members.api.ts';
import { LowCredits, LowCreditsChange, Mails, MailsChange } from '../resources/mails.ts';
import {
  ForgottenPassword,
  ForgottenPasswordAnswer,
  PasswordReset,
  ResetLink,
  ResetLinkRequest,
} from '../resources/password-reset.ts';
import {
  OpenSignUp,
  OpenSignUpLink,
  SignedUp,
  SignUpAcceptance,
  SignUpInvitation,
  SignUpLink,
  SignUpRequest,
} from '../resources/sign-up.ts';
import { PublicVerification } from '../resources/public-check.ts';
import { PublicName, PublicNameChange } from '../resources/public-name.ts';
import { Alive, Ready } from '../resources/service.ts';
import {
  Assertion,
  Passkey,
  PasskeyCreation,
  PasskeyRequest,
  Registration,
} from '../resources/passkeys.api.ts';
import { SignInPolicy } from '../resources/sign-in-policy.ts';
import { Session } from '../resources/sessions.ts';
import { CreatedShareLink, ShareLink, ShareLinkRequest } from '../resources/share-links.ts';
import { ConsistencyProof, ConversionProof, ProvenEvent } from '../resources/transparency-log.ts';
import { Usage, UsageDay } from '../resources/usage.ts';
import { WebhookDelivery } from '../resources/webhook-deliveries.api.ts';
import {
  Template,
  TemplateContent,
  TemplatePreview,
  TemplateVersion,
} from '../resources/templates.api.ts';
import { TEMPLATE_FIELDS } from '../../requests/template-schema.ts';
import { Signature } from '../resources/signature.ts';
import { Webhook, WebhookWithSecret } from '../resources/webhooks.api.ts';
import type { SchemaObject } from './types.ts';

const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

const Code = Type.Enum([...ERROR_CODES], {
  description: 'The machine-readable code. Programs decide by it.',
  examples: ['validation_error'],
});

/** The body of every response other than success. */
export const ErrorAnswer = Type.Object(
  {
    error: Code,
    message: Type.String({
      minLength: 1,
      description: 'The message for people. It may change.',
      examples: ['scale: Must be at most 2.'],
    }),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String(), { minItems: 1 }), {
        description:
          'The messages for each field that is wrong, such as scale, wait_for.selector or cookies.0.name.',
        examples: [{ scale: ['Must be at most 2.'] }],
      }),
    ),
  },
  { additionalProperties: false },
);

const NAMED: Readonly<Record<string, TSchema>> = {
  ConversionRequest,
  Cookie,
  Conversion,
  ConversionStatus,
  PdfOptions: ConversionRequest.properties.pdf,
  DocumentRequest,
  DocumentSource: Source,
  DocumentStep: Step,
  DocumentWork: WorkAnswer,
  StoredRequest,
  // Clients have been generated with this name.
  RenderRecord: RenderManifest,
  Account,
  LedgerEntry,
  PasswordChange,
  PublicName,
  PublicNameChange,
  LowCredits,
  LowCreditsChange,
  Mails,
  MailsChange,
  PublicVerification,
  Usage,
  UsageDay,
  HistoryEntry,
  ConversionProof,
  ProvenEvent,
  ConsistencyProof,
  ApiKeyRequest,
  ApiKey,
  CreatedApiKey,
  ShareLinkRequest,
  ShareLink,
  CreatedShareLink,
  SignInRequest,
  RefreshRequest,
  TokenPair,
  DashboardAccess,
  ServiceStatus,
  ServiceActivity,
  Failure,
  FailureGroup,
  ProjectionState,
  SignedCheckpoint,
  AccountDetails,
  AccountOpening,
  OpenedAccount,
  PlanChange,
  CreditGrant,
  HoldRequest,
  ErasureRequest,
  SuspensionRequest,
  AccountActivity,
  SignUpRequest,
  OpenSignUp,
  OpenSignUpLink,
  SignUpAcceptance,
  SignedUp,
  SignUpInvitation,
  SignUpLink,
  AddressProofRequest,
  ProvenAddress,
  ResetLinkRequest,
  ResetLink,
  ForgottenPassword,
  ForgottenPasswordAnswer,
  PasswordReset,
  Session,
  SignInPolicy,
  Passkey,
  PasskeyRequest,
  PasskeyCreation,
  PasskeyAssertion: Assertion,
  Authenticator,
  AuthenticatorOffer,
  LostAuthenticator,
  RecoveryCodes,
  PasskeyRegistration: Registration,
  Member,
  InvitedMember,
  Person,
  OpenInvitation,
  Batch,
  Template,
  TemplateVersion,
  TemplateContent,
  TemplateOptions: TEMPLATE_FIELDS.options,
  TemplatePreview,
  Signature,
  Webhook,
  WebhookWithSecret,
  WebhookDelivery,
  Alive,
  Ready,
  Error: ErrorAnswer,
  ErrorCode: Code,
};

const NAMES = new Map<unknown, string>(
  Object.entries(NAMED).map(([name, schema]) => [schema, name]),
);

function plain(value: unknown): unknown {
  const name = NAMES.get(value);
  return name === undefined ? parts(value) : { $ref: `#/components/schemas/${name}` };
}

/**
 * Enumerable properties alone: what TypeBox hides for itself is left out. Written as most generators of
 * clients read it: an enumeration says its type, a record is `additionalProperties`, and what may be
 * null is a type of two names.
 */
function parts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const { patternProperties, anyOf, ...rest }: SchemaObject = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, plain(each)]),
  );
  const [items] = Object.values(patternProperties ?? {});
  const [first, second] = anyOf ?? [];
  const orNull = second?.type === 'null';
  return {
    ...(rest.enum === undefined ? {} : { type: typeOf(rest.enum) }),
    ...(anyOf === undefined ? {} : orNull ? { ...first, type: [first?.type, 'null'] } : { anyOf }),
    ...rest,
    ...(items === undefined ? {} : { additionalProperties: items }),
  };
}

const typeOf = ([first]: readonly unknown[]): string =>
  typeof first === 'number' ? 'integer' : 'string';

/** The schema as it stands in the document: named ones by reference. */
export const schemaObject = (schema: TSchema): SchemaObject => plain(schema) as SchemaObject;

/** What forms are drawn from, by the paths of the objects in a request. */
const DRAWN: Readonly<Record<string, string | undefined>> = {
  ConversionRequest: '',
  Cookie: 'cookies',
  PdfOptions: 'pdf',
  DocumentRequest: '',
  DocumentStep: 'steps',
};

export const SCHEMAS: Readonly<Record<string, SchemaObject>> = Object.fromEntries(
  Object.entries(NAMED).map(([name, schema]) => {
    const object = parts(schema) as SchemaObject;
    const path = DRAWN[name];
    const drawn = path === undefined ? object : withWords(object, path);
    return [name, schema === Step ? { ...drawn, 'x-types': STEP_FORMS } : drawn];
  }),
);
