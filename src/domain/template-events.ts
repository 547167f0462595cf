/** Events of an account's templates. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { AccountId, Count, Sealed, Sha256, TemplateId, Time } from './event-fields.ts';

const OF_TEMPLATE = { accountId: AccountId, templateId: TemplateId };

export const TEMPLATE_EVENT_SCHEMAS = {
  /** Its first version follows it, in one append. */
  TemplateCreated: Type.Object({ ...OF_TEMPLATE, name: Sealed, createdAt: Time }),
  TemplateVersionSaved: Type.Object({
    ...OF_TEMPLATE,
    /** From 1, without gaps. */
    version: Count,
    /** A `TemplateContent` as JSON. */
    content: Sealed,
    /** HMAC-SHA-256 of that JSON, hex, with a key of its template: no guess can be tested against it. */
    contentHmac: Sha256,
    /** The length of that JSON in UTF-8. */
    bytes: Count,
    savedAt: Time,
  }),
  TemplateRenamed: Type.Object({ ...OF_TEMPLATE, name: Sealed, renamedAt: Time }),
  /** What was made of it stays; its versions cannot be had any more. */
  TemplateDeleted: Type.Object({ ...OF_TEMPLATE, deletedAt: Time }),
} as const;
