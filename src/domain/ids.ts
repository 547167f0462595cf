/** Patterns of ids. What becomes a part of a path or a stream must match one. */
export const CONVERSION_ID = 'conv_[0-9a-z]{26}';
export const ACCOUNT_ID = 'acct_[0-9a-z]{26}';
export const LINK_ID = 'link_[0-9a-z]{26}';
export const BATCH_ID = 'batch_[0-9a-z]{26}';
export const KEY_ID = 'key_[0-9a-z]{26}';
export const SESSION_ID = 'sess_[0-9a-z]{26}';
export const WEBHOOK_ID = 'webhook_[0-9a-z]{26}';
export const TEMPLATE_ID = 'tmpl_[0-9a-z]{26}';
export const DELIVERY_ID = 'delivery_[0-9a-z]{26}';
export const MAIL_ID = 'mail_[0-9a-z]{26}';
export const PERSON_ID = 'person_[0-9a-z]{26}';
/** What a person's key has sealed names that person: it lies in events of accounts, among what their keys have sealed. */
export const SEALED_FOR_PERSON = `^(${PERSON_ID})\\.(.*)$`;
export const PASSKEY_ID = 'passkey_[0-9a-z]{26}';
export const CERTIFICATE_ID = 'cert_[0-9a-z]{26}';

/** The kinds of ids that data keys belong to. `archive/keys.ts` has the events that begin and end their owners. */
const KEY_OWNERS = [ACCOUNT_ID, CERTIFICATE_ID, PERSON_ID];
export const KEY_OWNER_ID = `(?:${KEY_OWNERS.join('|')})`;
