/** The rules of a URL that is told of events: of an endpoint, or of one request. */
import type { Config } from '../config/config.ts';
import { isLiftedBySetting, judgeReceiver, type UrlRefusal } from '../egress/policy.ts';
import type { ValidationIssues } from './validation.ts';

export const MAX_WEBHOOK_URL_CHARACTERS = 2048;

export const NO_WEBHOOK_SECRET =
  'The account does not have a secret to sign the delivery. Make it first: POST /webhooks/secret/rotate/ shows it once.';

export type WebhookUrlRules = Pick<Config, 'allowPrivateNetwork' | 'egressPorts'> & {
  /** Called where `ALLOW_PRIVATE_NETWORK` would allow a URL. @returns what the sender is told of that, if anything */
  readonly settingHint?: () => string | undefined;
};

/** Adds the reason of a refusal. */
export function addRefusal(
  issues: ValidationIssues,
  field: string,
  refusal: UrlRefusal,
  { settingHint }: Pick<WebhookUrlRules, 'settingHint'>,
): void {
  const hint = isLiftedBySetting(refusal) ? settingHint?.() : undefined;
  issues.add(field, hint === undefined ? refusal.reason : `${refusal.reason} ${hint}`);
}

/**
 * A name may still lead to an address that is refused at the connection.
 * @returns the URL as it is stored: as it will be asked for, without line breaks and tabs in it
 */
export function checkWebhookUrl(
  issues: ValidationIssues,
  field: string,
  url: string,
  rules: WebhookUrlRules,
): string {
  const { allowPrivateNetwork, egressPorts: extraPorts } = rules;
  const refusal = judgeReceiver(url, { allowPrivateNetwork, extraPorts });
  if (refusal !== undefined) addRefusal(issues, field, refusal, rules);
  const { href } = URL.parse(url) ?? { href: url };
  if (refusal === undefined && href.length > MAX_WEBHOOK_URL_CHARACTERS) {
    issues.add(
      field,
      `Must have at most ${MAX_WEBHOOK_URL_CHARACTERS} characters once it is encoded.`,
    );
  }
  return href;
}
