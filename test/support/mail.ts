/** The API with what sends its mails, on a clock that tests move. */
import type { Test } from 'tap';
import { pageLinks } from '../../src/http/page-links.ts';
import { parseSmtpUrl } from '../../src/mail/address.ts';
import { createSmtpMailer } from '../../src/mail/smtp.ts';
import { startMails } from '../../src/process-managers/mails.ts';
import { type Api, type ApiOptions, startApi } from './api.ts';
import { eventually } from './deadline.ts';
import { MAIL_FROM, type ReceivedMail, startMailServer } from './mail-server.ts';

/** Sends to a server on this machine. */
export function startMailing(t: Pick<Test, 'teardown'>, api: Api, url: string) {
  const server = parseSmtpUrl(url);
  const mailer = createSmtpMailer({ server, from: MAIL_FROM });
  const links = pageLinks(() => api.publicUrl);
  const mails = startMails({ ...api, links, mailer, firstPauseMs: 20 });
  t.teardown(() => mails.stop());
  return mails;
}

export async function startMailApi(
  t: Test,
  env: Readonly<Record<string, string>> = {},
  replace?: ApiOptions['replace'],
) {
  const server = await startMailServer(t);
  const settings = { SMTP_URL: server.url, MAIL_FROM: MAIL_FROM.address };
  const api = await startApi(t, { env: { ...settings, ...env }, ...(replace && { replace }) });
  const sender = startMailing(t, api, server.url);
  return { ...mailTools(api, server.received), api, server, sender };
}

export function mailTools(api: Api, received: readonly ReceivedMail[]) {
  const events = async (type: string) =>
    (await api.log())
      .filter((event) => event.type === type)
      .map((event) => ({ ...event, facts: JSON.parse(event.data) as LogFacts }));
  return {
    /** The events of one type. */
    events,
    /** Waits until there are so many events of the type. */
    logged: (type: string, count = 1) =>
      eventually(`${count} ${type}`, async () => {
        const all = await events(type);
        return all.length >= count ? all : undefined;
      }),
    /** Waits until so many mails have come. @returns the last of them */
    mailNumber: (count: number) =>
      eventually(`mail ${count}`, () =>
        received.length >= count ? received[count - 1] : undefined,
      ),
  };
}

/** What an event says of a mail. */
export interface LogFacts {
  readonly [name: string]: unknown;
}

/** The first link in a mail. */
export const linkIn = ({ mail }: ReceivedMail): string =>
  /https?:\/\/\S+/.exec(mail.text ?? '')?.[0] ?? '';
