/** A real provider of OpenID Connect on loopback, whose people sign in without being asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { Test } from 'tap';
import { CALLBACK_PATH } from '../../src/http/resources/provider-sign-in.ts';
import type { Api } from './api.ts';
import { ownPage } from './dashboard.ts';

export const CLIENT = {
  OIDC_CLIENT_ID: 'pressledger',
  OIDC_CLIENT_SECRET: 'a secret of the client',
};

/** What the provider says of a person, beside their subject. */
export type Claims = Readonly<Record<string, unknown>>;

export interface TestProvider {
  readonly env: Readonly<Record<string, string>>;
  /** By subject. */
  readonly people: Map<string, Claims>;
  /** The subject of whoever sits at the browser; undefined: they refuse. */
  atBrowser: string | undefined;
  /** Lets it know the service that its people come from. */
  serve(publicUrl: string): void;
}

/** Listens at once, so that its issuer is known, and serves once it knows the service. */
export async function startProvider(t: Pick<Test, 'teardown'>): Promise<TestProvider> {
  let provider: Provider | undefined;
  const people = new Map<string, Claims>();
  const server = createServer((request, response) => {
    const [, uid] = /^\/interaction\/([\w-]+)$/.exec(request.url ?? '') ?? [];
    if (provider === undefined) return void response.writeHead(503).end();
    if (uid === undefined) return void provider.callback()(request, response);
    const subject = self.atBrowser;
    const result =
      subject === undefined
        ? { error: 'access_denied', error_description: 'The person said no.' }
        : { login: { accountId: subject } };
    void provider.interactionFinished(request, response, result);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const self: TestProvider = {
    env: { OIDC_ISSUER: issuer, ...CLIENT },
    people,
    atBrowser: undefined,
    serve(publicUrl) {
      provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT.OIDC_CLIENT_ID,
            client_secret: CLIENT.OIDC_CLIENT_SECRET,
            redirect_uris: [publicUrl + CALLBACK_PATH],
          },
        ],
        claims: {
          email: ['email', 'email_verified'],
          profile: ['name', 'groups', 'role', 'realm_access'],
        },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        cookies: { keys: ['a key of cookies'] },
        findAccount: (_, id) => ({
          accountId: id,
          claims: () => ({ ...people.get(id), sub: id }),
        }),
        async loadExistingGrant(ctx) {
          const { client, session } = ctx.oidc;
          const grant = new ctx.oidc.provider.Grant({
            clientId: client?.clientId ?? '',
            accountId: session?.accountId ?? '',
          });
          grant.addOIDCScope('openid email profile');
          await grant.save();
          return grant;
        },
      });
    },
  };
  return self;
}

/** The cookies of one browser at one site. */
class Jar {
  readonly #cookies = new Map<string, string>();

  take(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const isRemoved = value === '' || /Max-Age=0|expires=Thu, 01 Jan 1970/i.test(line);
      if (isRemoved) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }

  get header(): string {
    return [...this.#cookies].map((pair) => pair.join('=')).join('; ');
  }

  has(name: string): boolean {
    return this.#cookies.has(name);
  }
}

/** A browser as far as redirects and cookies go. */
export class TestBrowser {
  readonly #jars = new Map<string, Jar>();
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  jar(url: string): Jar {
    const { origin } = new URL(url);
    const jar = this.#jars.get(origin) ?? new Jar();
    this.#jars.set(origin, jar);
    return jar;
  }

  /** The answer to one request, whose redirect is not followed. */
  async get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const jar = this.jar(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { ...headers, ...(jar.header !== '' && { Cookie: jar.header }) },
    });
    jar.take(response.headers);
    return response;
  }

  /** Begins a sign-in by the link of the page. @returns where the service leads to */
  async begin(search = ''): Promise<string> {
    const url = `${this.#api.origin}/dashboard/oidc/start${search}`;
    const { headers } = await this.get(url, ownPage());
    return headers.get('location') ?? '';
  }

  /** Follows redirects, until one leads to the service. @returns its URL */
  async toCallback(from: string): Promise<string> {
    let url = from;
    for (let step = 0; step < 10 && !url.startsWith(this.#api.origin); step += 1) {
      const response = await this.get(url);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${url}: ${response.status} ${await response.text()}`);
      url = new URL(location, url).href;
    }
    return url;
  }

  /** Takes what the provider said to the service. @returns where that leads to */
  async comeBack(callback: string): Promise<string> {
    const { headers } = await this.get(callback, { 'Sec-Fetch-Site': 'cross-site' });
    return headers.get('location') ?? '';
  }

  /** A whole sign-in. @returns where it ends */
  async signIn(search = ''): Promise<string> {
    const begun = await this.begin(search);
    if (begun.startsWith('/')) return begun;
    return await this.comeBack(await this.toCallback(begun));
  }

  /** The claims of the access token that the pages get now. */
  async session(): Promise<{ readonly headers: { Authorization: string } }> {
    const response = await this.get(`${this.#api.origin}/dashboard/session`, ownPage());
    const { access } = (await response.json()) as { access: string };
    return { headers: { Authorization: `Bearer ${access}` } };
  }
}
