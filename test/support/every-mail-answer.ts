/** Requests that have the API give each answer that it gives where it can send mail alone. */
import type { Api } from './api.ts';
import { bearerOf, invite } from './every-people-answer.ts';

/** The mail server is never asked: another part of the service sends. */
export const MAIL_ENV = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'pdf@example.com' };

export async function driveMail(api: Api): Promise<void> {
  const { email } = await api.newAccount();
  await invite(api, await bearerOf(api, email), 'bob@example.com', 'owner');
}
