/** The API with what sends its webhooks, on a clock that tests move. */
import type { Test } from 'tap';
import { Compile } from 'typebox/compile';
import { fileLinks } from '../../src/http/tokens.ts';
import { startWebhooks } from '../../src/process-managers/webhooks.ts';
import { createPoster, type PosterOptions } from '../../src/webhooks/poster.ts';
import { type Api, BASE, startApi } from './api.ts';
import { eventually } from './deadline.ts';
import type { Received } from './receiver.ts';

export const PDF = Buffer.from(`%PDF-1.7\n${'x'.repeat(100)}\n%%EOF\n`);

export function startSender(api: Api, options: Partial<PosterOptions> = {}) {
  const policy = { allowPrivateNetwork: true, extraPorts: [] };
  const poster = createPoster({ policy, version: '1.2.3', ...options });
  const { fileTokens, config, publicUrl } = api;
  const fileUrl = fileLinks(fileTokens, config.fileUrlTtlSeconds, () => publicUrl);
  return startWebhooks({ ...api, poster, fileUrl });
}

export async function startWebhookApi(t: Test, env: Readonly<Record<string, string>> = {}) {
  const api = await startApi(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', ...env } });
  const account = await api.newAccount();
  const { key } = account;
  const sender = startSender(api);
  t.teardown(() => sender.stop());
  const call = (method: string, path: string, body?: object) =>
    api.call(method, `${BASE}${path}`, { key, ...(body && { body }) });
  const create = async (url: string, more: object = {}) => {
    const { status, body } = await call('POST', '/webhooks/', { url, ...more });
    t.equal(status, 201, JSON.stringify(body));
    return body as { readonly id: string; readonly secret: string };
  };
  /** Asks for a conversion. @returns its id */
  const request = async (more: object = {}): Promise<string> => {
    const { status, body } = await call('POST', '/pdf/', { html: '<p>x</p>', ...more });
    t.equal(status, 202, JSON.stringify(body));
    return String(body['id']);
  };
  const end = async (id: string): Promise<string> => {
    await api.complete(account.id, id, PDF);
    return id;
  };
  const fail = async (id: string): Promise<string> => {
    await api.fail(account.id, id, 'a reason');
    return id;
  };
  /** Resolves to the delivery, once it is in that state. */
  const inState = (id: string, expected: object) =>
    eventually(`${id} to be ${JSON.stringify(expected)}`, async () => {
      const { body } = await call('GET', `/webhooks/deliveries/${id}/`);
      const isSo = Object.entries(expected).every(([name, value]) => body[name] === value);
      return isSo ? body : undefined;
    });
  /** Says whether what came is as the document has it. */
  const isDocumented = ({ body }: Received): boolean => {
    const { components, webhooks } = api.document;
    const { requestBody } = webhooks[body.type]?.post ?? {};
    const schema = requestBody?.content['application/json']?.schema;
    return schema !== undefined && Compile({ components, ...schema }).Check(body);
  };
  /** Moves the clock, and lets the sender look at it. */
  const pass = (ms: number): void => {
    api.clock.time += ms;
    sender.wake();
  };
  return {
    ...api,
    api,
    account,
    key,
    sender,
    callAs: call,
    create,
    request,
    end,
    failOne: fail,
    inState,
    isDocumented,
    pass,
  };
}
