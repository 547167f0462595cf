/** Receivers of mail on loopback: a real one, and one that does at each step what a test says. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Test } from 'tap';

export const MAIL_FROM = { address: 'pdf@example.com', name: 'The Press, "Ledger"' };

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly from: string;
  readonly mail: ParsedMail;
  readonly raw: string;
}

/** The status that a step is refused with; undefined: it is not. */
type Refusal = number | undefined;

export interface MailServerOptions extends Pick<SMTPServerOptions, 'secure' | 'key' | 'cert'> {
  /** The user and password that it asks for. */
  readonly user?: string;
  readonly password?: string;
  readonly offersTls?: boolean;
}

const refused = (status: number) =>
  Object.assign(new Error('Not this one.'), { responseCode: status });

/** Takes mail as any server does, and keeps it. */
export async function startMailServer(
  t: Pick<Test, 'teardown'>,
  { user, password, offersTls = false, ...options }: MailServerOptions = {},
) {
  const received: ReceivedMail[] = [];
  const answers: { recipient: (address: string) => Refusal; data: () => Refusal } = {
    recipient: () => undefined,
    data: () => undefined,
  };
  const server = new SMTPServer({
    ...options,
    authOptional: user === undefined,
    disabledCommands: [...(user === undefined ? ['AUTH'] : []), ...(offersTls ? [] : ['STARTTLS'])],
    // What a client does over an open line is asked by tests of its own.
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) => {
      if (auth.username === user && auth.password === password) done(null, { user });
      else done(new Error('Wrong user or password'));
    },
    onRcptTo: ({ address }, _session, done) => {
      const status = answers.recipient(address);
      if (status === undefined) done();
      else done(refused(status));
    },
    onData: (stream, session, done) => {
      const keep = async (): Promise<void> => {
        const raw = await text(stream);
        const status = answers.data();
        if (status !== undefined) throw refused(status);
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        received.push({ from, to, mail: await simpleParser(raw), raw });
      };
      callbackify(keep)(done);
    },
  });
  // Clients that break a connection off.
  server.on('error', () => {});
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.server.address() as AddressInfo;
  t.teardown(() => new Promise<void>((closed) => server.close(closed)));
  return { port, received, answers, url: `smtp://127.0.0.1:${port}` };
}

/** Steps of a dialogue, in their order. `message`: the end of the message itself. */
export const STEPS = ['greeting', 'EHLO', 'MAIL FROM', 'RCPT TO', 'DATA', 'message'] as const;
export type Step = (typeof STEPS)[number];

const GOOD: Readonly<Record<Step, string>> = {
  greeting: '220 here',
  EHLO: '250 here',
  'MAIL FROM': '250 OK',
  'RCPT TO': '250 OK',
  DATA: '354 go on',
  message: '250 taken',
};

/** Says at one step what is given: a line; nothing (`hang`); or it closes the connection (`close`). */
export async function startScriptedServer(t: Pick<Test, 'teardown'>) {
  const sockets = new Set<Socket>();
  const behaviour: { at?: Step; does?: string } = {};
  /** The Message-IDs of messages that came to their end. */
  const messages: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    const answer = (step: Step): void => {
      const says = behaviour.at === step ? behaviour.does : GOOD[step];
      if (says === 'close' || !socket.writable) socket.destroy();
      else if (says !== undefined && says !== 'hang') socket.write(`${says}\r\n`);
    };
    let inMessage = false;
    answer('greeting');
    createInterface({ input: socket }).on('line', (line) => {
      if (inMessage) {
        const [, id] = /^message-id: (.*)$/i.exec(line) ?? [];
        if (id !== undefined) messages.push(id);
        if (line !== '.') return;
        inMessage = false;
        return answer('message');
      }
      const step = STEPS.find((each) => line.toUpperCase().startsWith(each));
      if (step === undefined) socket.end();
      else answer(step);
      if (step === 'DATA' && behaviour.at !== 'DATA') inMessage = true;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return { port, messages, behaviour, url: `smtp://127.0.0.1:${port}` };
}
