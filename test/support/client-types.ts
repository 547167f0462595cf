/** The client's types, held against the schemas that judge requests and answers: by `tsc`, not at run time. */
import type { Static } from 'typebox';
import type {
  InvitedMember,
  OpenInvitation,
  Person,
} from '../../src/http/resources/members.api.ts';
import type { ErrorCode as ClientErrorCode } from '../../client/src/errors.ts';
import type * as client from '../../client/src/index.ts';
import type { ErrorCode } from '../../src/errors/errors.ts';
import type { Account, LedgerEntry } from '../../src/http/resources/account.ts';
import type { ApiKey, CreatedApiKey } from '../../src/http/resources/api-keys.ts';
import type { Passkey } from '../../src/http/resources/passkeys.api.ts';
import type { CreatedShareLink, ShareLink } from '../../src/http/resources/share-links.ts';
import type { SignInPolicy } from '../../src/http/resources/sign-in-policy.ts';
import type { TokenPair } from '../../src/http/resources/auth.ts';
import type { Batch } from '../../src/http/resources/batches.api.ts';
import type { Conversion } from '../../src/http/resources/conversion-record.api.ts';
import type { Verification } from '../../src/http/resources/evidence.ts';
import type {
  Template,
  TemplateContent,
  TemplatePreview,
} from '../../src/http/resources/templates.api.ts';
import type { ConversionProof } from '../../src/http/resources/transparency-log.ts';
import type { DeliveryWithTries } from '../../src/http/resources/webhook-deliveries.api.ts';
import type { NewDefaultSecret, WebhookWithSecret } from '../../src/http/resources/webhooks.api.ts';
import type { ConversionRequest } from '../../src/requests/schema.ts';

/** A type spelt out: what a form of a union never has is left out, and optional is said, not meant. */
type Shape<T> = T extends readonly (infer Item)[]
  ? { items: Shape<Item> }
  : T extends object
    ? {
        [K in keyof T as [Exclude<T[K], undefined>] extends [never] ? never : K]-?: [
          Partial<Record<K, never>> extends Pick<T, K> ? 'optional' : 'required',
          Shape<Exclude<T[K], undefined>>,
        ];
      }
    : T;

type Same<A, B> = [Shape<A>, Shape<B>] extends [Shape<B>, Shape<A>] ? true : false;

type Holds<T extends true> = T;

export type Held = [
  Holds<
    Same<
      client.PrintOptions,
      Omit<ConversionRequest, 'html' | 'url' | 'template' | 'data' | 'files'>
    >
  >,
  Holds<client.ConversionOptions extends ConversionRequest ? true : false>,
  // The document has one object for every status, the client one form for each.
  Holds<
    client.AcceptedConversion | client.Conversion extends Static<typeof Conversion> ? true : false
  >,
  Holds<Same<client.Conversion['status'], Static<typeof Conversion>['status']>>,
  Holds<Same<keyof client.CompletedConversion, keyof Static<typeof Conversion>>>,
  Holds<Same<client.Batch, Static<typeof Batch>>>,
  Holds<Same<client.ShareLink, Static<typeof ShareLink>>>,
  Holds<Same<client.CreatedShareLink, Static<typeof CreatedShareLink>>>,
  Holds<Same<client.ApiKey, Static<typeof ApiKey>>>,
  Holds<Same<client.NewApiKey, Static<typeof CreatedApiKey>>>,
  Holds<Same<client.InvitedMember, Static<typeof InvitedMember>>>,
  Holds<Same<client.Person, Static<typeof Person>>>,
  Holds<Same<client.Passkey, Static<typeof Passkey>>>,
  Holds<Same<client.SignInPolicy, Static<typeof SignInPolicy>>>,
  Holds<Same<client.Invitation, Static<typeof OpenInvitation>>>,
  Holds<Same<client.TokenPair, Static<typeof TokenPair>>>,
  Holds<Same<client.Account, Static<typeof Account>>>,
  Holds<Same<client.LedgerEntry, Static<typeof LedgerEntry>>>,
  Holds<Same<client.ConversionProof, Static<typeof ConversionProof>>>,
  Holds<Same<keyof client.KnownPdf, keyof Static<typeof Verification>>>,
  Holds<Same<client.WebhookWithSecret, Static<typeof WebhookWithSecret>>>,
  Holds<Same<client.NewWebhookSecret, Static<typeof NewDefaultSecret>>>,
  Holds<Same<client.WebhookDeliveryWithTries, Static<typeof DeliveryWithTries>>>,
  Holds<Same<client.Template, Static<typeof Template>>>,
  Holds<Same<client.TemplateVersion & client.TemplateContent, Static<typeof TemplateContent>>>,
  Holds<Same<client.TemplateTexts, Static<typeof TemplatePreview>>>,
  Holds<ErrorCode extends ClientErrorCode ? true : false>,
];
