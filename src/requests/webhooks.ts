/** The rules of a URL that is told of events: of an endpoint, or of one request. */
import type { Config } from '../config/config.ts';
import { refusalOfUrl } from '../egress/policy.ts';
import type { ValidationIssues } from './validation.ts';

export const MAX_WEBHOOK_URL_CHARACTERS = 2048;

export type WebhookUrlRules = Pick<Config, 'allowPrivateNetwork' | 'egressPorts'>;

/** A name may still lead to an address that is refused at the connection. */
export function checkWebhookUrl(
  issues: ValidationIssues,
  field: string,
  url: string,
  { allowPrivateNetwork, egressPorts: extraPorts }: WebhookUrlRules,
): void {
  const refusal = refusalOfUrl(url, { allowPrivateNetwork, extraPorts });
  if (refusal !== undefined) issues.add(field, refusal);
  else if (!allowPrivateNetwork && !/^https:/i.test(url)) {
    issues.add(field, 'Must begin with https://. The operator allows http for development alone.');
  }
}
