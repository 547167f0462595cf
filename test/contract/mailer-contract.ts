/** What everything that sends mails must do. Each way to a server has a test that runs it. */
import { type Test, test } from 'tap';
import type { Mailer, OutgoingMail } from '../../src/mail/port.ts';
import type { startMailServer } from '../support/mail-server.ts';

export interface OpenedMailer {
  readonly mailer: Mailer;
  readonly server: Awaited<ReturnType<typeof startMailServer>>;
}

export interface MailerAdapter {
  readonly name: string;
  readonly open: (t: Test) => Promise<OpenedMailer>;
}

export const MAIL: OutgoingMail = {
  id: 'mail_3f0c9a4be71d5286c0f4a9d1e8',
  to: 'ada@example.com',
  subject:
    'Grüße – und ein sehr langer Betreff, der über eine Zeile hinausgeht, wie es manche sind',
  text: 'Zeile eins\n.\nZeile drei: https://pdf.example.com/invitation#aaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbbbbbbb_cccccccccccccccccccccc\n',
  html: '<!doctype html><p>Grüße</p>\n',
};

const signal = new AbortController().signal;

export function runMailerContract({ name, open }: MailerAdapter): void {
  void test(name, async (t) => {
    const { mailer, server } = await open(t);
    t.teardown(() => mailer.close());
    const send = (more: Partial<OutgoingMail> = {}) => mailer.send({ ...MAIL, ...more }, signal);

    await t.test('a mail comes as it was given', async (u) => {
      u.same(await send(), { outcome: 'accepted' });
      const { from, to, mail } = server.received.at(-1) ?? {};
      u.same([from, to], ['pdf@example.com', ['ada@example.com']]);
      u.equal(mail?.subject, MAIL.subject);
      u.equal(mail?.text, MAIL.text);
      u.equal(mail?.html, MAIL.html);
      u.equal(mail?.messageId, `<${MAIL.id}@example.com>`);
      u.same(mail?.from?.value, [{ address: 'pdf@example.com', name: 'The Press, "Ledger"' }]);
      u.same(mail?.to && [mail.to].flat()[0]?.value, [{ address: 'ada@example.com', name: '' }]);
      u.equal(mail?.headers.get('auto-submitted'), 'auto-generated');
    });

    await t.test('another try has the same Message-ID', async (u) => {
      const before = server.received.length;
      await send();
      u.equal(server.received.length, before + 1);
      u.equal(server.received.at(-1)?.mail.messageId, `<${MAIL.id}@example.com>`);
    });

    await t.test('what the server says of a mail is told', async (u) => {
      const { answers } = server;
      for (const [status, outcome] of [
        [550, 'refused'],
        [451, 'deferred'],
      ] as const) {
        answers.recipient = () => status;
        u.same(await send(), { outcome, status }, `${status} to the recipient`);
        answers.recipient = () => undefined;
        answers.data = () => status;
        u.same(await send(), { outcome, status }, `${status} to the message`);
        answers.data = () => undefined;
      }
    });

    await t.test('nothing that is given becomes a header or a recipient', async (u) => {
      const evil = 'x\r\nBcc: eve@example.com\r\n\r\nbody';
      u.same(await send({ subject: evil }), { outcome: 'accepted' });
      const { raw = '', mail } = server.received.at(-1) ?? {};
      u.notMatch(raw, /^bcc:/im);
      u.equal(mail?.text, MAIL.text);
      const before = server.received.length;
      for (const to of [
        'ada@example.com\r\nRCPT TO:<eve@example.com>',
        'ada@example.com>\r\nDATA\r\n.',
        'a@b, eve@example.com',
        '',
      ]) {
        const { outcome } = await send({ to });
        u.not(outcome, 'accepted', JSON.stringify(to));
      }
      u.equal(server.received.length, before);
    });

    await t.test('a signal that is aborted ends it', async (u) => {
      await u.rejects(mailer.send(MAIL, AbortSignal.abort(new Error('stopped'))), /stopped/);
    });
  });
}
