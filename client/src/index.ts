export type { Batch, BatchItem, BatchOptions } from './batches.ts';
export type { DocumentOptions, DocumentSource, DocumentStep } from './documents.ts';
export { PressledgerClient } from './client.ts';
export type * from './conversion-options.ts';
export {
  type ErrorCode,
  type ErrorDetails,
  isPressledgerError,
  PressledgerError,
  PressledgerTimeout,
  PressledgerUnreachable,
} from './errors.ts';
export type { CreatedShareLink, ShareLink } from './links.ts';
export type {
  AcceptedInvitation,
  Invitation,
  InvitedMember,
  Member,
  Passkey,
  Person,
  PersonAccount,
  Role,
  SignInPolicy,
  SignInRequirement,
} from './members.ts';
export type {
  AsOf,
  CallOptions,
  ClientOptions,
  ConvertOptions,
  CreateOptions,
  WaitOptions,
} from './options.ts';
export type { ConversionFilter, Page, PageQuery } from './pages.ts';
export type { SignatureCertificate } from './signature.ts';
export type {
  Template,
  TemplateContent,
  TemplatePreview,
  TemplateTexts,
  TemplateVersion,
} from './templates.ts';
export type * from './types.ts';
export {
  type DeliveryFilter,
  type NewWebhookSecret,
  verifyWebhook,
  type Webhook,
  type WebhookDelivery,
  type WebhookDeliveryWithTries,
  type WebhookEvent,
  type WebhookFailure,
  WebhookRefused,
  type WebhookSecret,
  type WebhookSettings,
  type WebhookTry,
  type WebhookType,
  type WebhookWithSecret,
} from './webhooks.ts';
