import type { ServerResponse } from 'node:http';
import { test } from 'tap';
import { createTimestampAuthority } from '../../../src/log/attestation/timestamp-client.ts';
import { startTimestampAuthority } from '../../support/timestamp-authority.ts';

const TEXT = 'pressledger/0123456789abcdef\n1\nqqqq\n\n— a signature\n';
const running = new AbortController().signal;

void test('its token is what openssl ts verifies', async (t) => {
  const authority = await startTimestampAuthority(t);
  const client = createTimestampAuthority(authority.url);
  const token = await client.timestamp(TEXT, running);
  await authority.verify(TEXT, token);
  await t.rejects(authority.verify(`${TEXT}x`, token), { message: /imprint mismatch/ });
  t.notSame(await client.timestamp(TEXT, running), token, 'each request has a nonce of its own');
});

void test('an answer to another request is refused, and so is one of another text', async (t) => {
  const authority = await startTimestampAuthority(t);
  const client = createTimestampAuthority(authority.url);
  await client.timestamp(TEXT, running);
  const [first = Buffer.alloc(0)] = authority.queries;
  const reply = await authority.reply(first);
  authority.instead = (_, response) => sendReply(response, reply);
  await t.rejects(client.timestamp(TEXT, running), {
    message: 'its timestamp answers another request',
  });
  await t.rejects(client.timestamp('another text', running), {
    message: 'its timestamp is of something else',
  });
});

void test('a refusal says why', async (t) => {
  const authority = await startTimestampAuthority(t, 'sha512');
  await t.rejects(createTimestampAuthority(authority.url).timestamp(TEXT, running), {
    message: /^it refused with status 2: Message digest algorithm is not supported/,
  });
});

void test('a changed time or signature is noticed', async (t) => {
  const authority = await startTimestampAuthority(t);
  const client = createTimestampAuthority(authority.url);
  const places = {
    // The first is that of the timestamp: "20261122110000Z". The certificates come after it.
    time: (reply: Buffer) => reply.toString('latin1').search(/20\d{12}Z/),
    signature: (reply: Buffer) => reply.length - 1,
  };
  for (const [name, place] of Object.entries(places)) {
    authority.instead = async (query, response) => {
      const reply = await authority.reply(query);
      const at = place(reply);
      reply.writeUInt8(reply.readUInt8(at) ^ 1, at);
      sendReply(response, reply);
    };
    await t.rejects(
      client.timestamp(TEXT, running),
      { message: /signature of its timestamp/ },
      name,
    );
  }
});

const HTML = '<!doctype html><title>Sign in</title>';

const BAD: Readonly<Record<string, readonly [(response: ServerResponse) => void, RegExp]>> = {
  'a page': [
    (response) => response.setHeader('content-type', 'text/html').end(HTML),
    /^it answered with text\/html$/,
  ],
  'a page that calls itself a timestamp': [
    (response) => sendReply(response, Buffer.from(HTML)),
    /^its answer is not a timestamp response$/,
  ],
  nothing: [
    (response) => sendReply(response, Buffer.alloc(0)),
    /^its answer is not a timestamp response$/,
  ],
  'a success without a token': [
    (response) => sendReply(response, Buffer.from('30053003020100', 'hex')),
    /^its answer has no timestamp$/,
  ],
  'an error': [
    (response) => void response.writeHead(503).end('away'),
    /^it answered with status 503$/,
  ],
  'a way elsewhere': [
    (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    /^it answered with status 307$/,
  ],
  '20 MB': [
    (response) => sendReply(response, Buffer.alloc(20 * 2 ** 20)),
    /^its answer is longer than 65536 bytes$/,
  ],
  'the end of the connection': [
    (response) => void response.destroy(),
    /^(other side closed|read ECONNRESET)$/,
  ],
};

for (const [name, [answer, message]] of Object.entries(BAD)) {
  void test(`an authority that answers with ${name} gets no further`, async (t) => {
    const authority = await startTimestampAuthority(t);
    authority.instead = (_, response) => answer(response);
    const client = createTimestampAuthority(authority.url);
    await t.rejects(client.timestamp(TEXT, running), { message });
  });
}

void test('an authority that never answers is left after the limit', async (t) => {
  const authority = await startTimestampAuthority(t);
  authority.instead = () => {};
  const client = createTimestampAuthority(authority.url, 50);
  await t.rejects(client.timestamp(TEXT, running), { message: 'it did not answer within 50 ms' });
});

function sendReply(response: ServerResponse, reply: Buffer): void {
  response.setHeader('content-type', 'application/timestamp-reply').end(reply);
}
