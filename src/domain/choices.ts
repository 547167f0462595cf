/** The values of fields that have a fixed set of them. Schemas, which take a tenth of a second to load, are elsewhere. */

/** The plans that are always there. Settings may add others. */
export const PLANS = ['free', 'starter', 'pro'] as const;
/** The form of a plan's name. */
export const PLAN_NAME = '[a-z][a-z0-9_-]{0,31}';
export const PAGE_SIZES = ['A4', 'Letter', 'Legal', 'A3', 'A5'] as const;
/** What a page becomes: a PDF, or a picture of all of it. */
export const FORMATS = ['pdf', 'png', 'jpeg', 'webp'] as const;
export type Format = (typeof FORMATS)[number];
export const COLOR_SCHEMES = ['light', 'dark'] as const;

/** What a member of an account may do: docs/people.md has the table. */
export const ROLES = ['owner', 'member', 'auditor'] as const;

/** `dashboard`: of a browser, held by a cookie; `api`: of a program, held by a refresh token. */
export const SESSION_KINDS = ['dashboard', 'api'] as const;

/** What a person proved at sign-in. A recovery code takes the place of a lost second factor. */
export const SIGN_IN_METHODS = ['password', 'otp', 'recovery_code', 'passkey', 'oidc'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/**
 * Ways to prove that an address is that of its person: a link that only a mail brings, the identity provider, or an operator,
 * who opened the account for it or vouches for the person.
 */
export const ADDRESS_PROOFS = ['mail', 'provider', 'operator'] as const;
export type AddressProof = (typeof ADDRESS_PROOFS)[number];

/** What an account requires of everybody who signs in to it. */
export const SIGN_IN_REQUIREMENTS = ['none', 'second_factor', 'oidc'] as const;
export type SignInRequirement = (typeof SIGN_IN_REQUIREMENTS)[number];

export const FAILURE_CODES = [
  'timeout',
  'address_refused',
  'navigation_failed',
  'page_status',
  'not_html',
  'selector_missing',
  'page_range',
  'page_crashed',
  'page_memory',
  'too_large',
  'incomplete',
  'not_conforming',
  'not_signed',
  'unreadable_pdf',
  'renderer_failed',
  'account_erased',
  'cancelled',
] as const;
export type ConversionFailureCode = (typeof FAILURE_CODES)[number];

/** The events that an endpoint may be told of. */
export const WEBHOOK_TYPES = [
  'conversion.completed',
  'conversion.failed',
  'conversion.deleted',
  'batch.ended',
  'credits.low',
] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];
/** The types of deliveries: one more is sent when its owner tests an endpoint. */
export type WebhookMessage = WebhookType | 'webhook.test';

/** Reasons why a receiver gave no answer that counts. */
export const DELIVERY_FAILURES = [
  'address_refused',
  'https_required',
  'name_not_found',
  'name_lookup_failed',
  'connection_refused',
  'connection_failed',
  'certificate_refused',
  'invalid_answer',
  'timeout',
  'unreadable',
] as const;
export type DeliveryFailure = (typeof DELIVERY_FAILURES)[number];

export const DELIVERY_STATUSES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Reasons why somebody whom the identity provider knows is not let in. The sign-in page has a text for each. */
export const PROVIDER_REFUSALS = [
  'unverified',
  'not-admitted',
  'unknown',
  'unproven',
  'other-person',
  'no-account',
  'full',
  'too-many',
] as const;
export type ProviderRefusalReason = (typeof PROVIDER_REFUSALS)[number];

/** What mails are about. `accounts/mail-letters.ts` says what each of them tells. */
export const MAIL_KINDS = [
  'invitation',
  'sign_up',
  'password_reset',
  'email_change',
  'email_changed',
  'address_proven',
  'new_sign_in',
  'credits_low',
  'webhook_disabled',
  'key_expiring',
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];
/** Mails that each person may switch off. */
export const OPTIONAL_MAILS = ['credits_low', 'webhook_disabled', 'key_expiring'] as const;
export type OptionalMail = (typeof OPTIONAL_MAILS)[number];

/**
 * Reasons why a mail was not sent: `outdated`: there was nothing to tell any more; `given_up`: it could not be sent for
 * three days; `refused` and `deferred`: the server's answer, for ever or for now; the others: it gave none.
 */
export const MAIL_FAILURES = [
  'refused',
  'deferred',
  'connection_failed',
  'timeout',
  'given_up',
  'outdated',
] as const;
export type MailFailure = (typeof MAIL_FAILURES)[number];

/** What an API key may be allowed to do. */
export const KEY_SCOPES = ['convert', 'read', 'history', 'keys', 'webhooks', 'templates'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
