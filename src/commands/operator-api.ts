/** The API with the rights of an operator, as commands on the machine of the store have it. */
import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { PressledgerClient } from '../../client/src/client.ts';
import { everyItem, type Page, pageQuery, pageReader } from '../../client/src/pages.ts';
import { bodyOf, type Call, json, nothing, Transport } from '../../client/src/transport.ts';
import { ServiceError } from '../errors/errors.ts';
import type { HistoryEntry } from '../conversions/history.ts';
import type { Account as AccountSchema } from '../http/resources/account.ts';
import type { EvidenceFacts } from '../http/resources/operator-history.ts';
import type { AccountActivity } from '../http/resources/operator-activity.ts';
import type { ResetLink } from '../http/resources/password-reset.ts';
import type { OpenSignUpLink } from '../http/resources/sign-up.ts';
import type { ProvenAddress } from '../http/resources/address-proofs.ts';
import type { AccountDetails } from '../http/resources/operator-accounts.api.ts';

/** An account as `GET /operator/accounts/` lists it. */
export type Account = Static<typeof AccountSchema>;

export type Details = Static<typeof AccountDetails>;
export type Activity = Static<typeof AccountActivity>;
export type Proven = Static<typeof ProvenAddress>;
export type Link = Static<typeof ResetLink>;
/** A link as `GET /operator/sign-ups/` lists it. */
export type SignUpLink = Static<typeof OpenSignUpLink>;

/** Its address leads nowhere: the requests go to the store of the settings. */
const SERVER = 'http://localhost';
/** What it is asked for may take long, such as the end of an account with many documents. */
const LONGEST_MS = 24 * 60 * 60_000;

/** The path of an account, or of what is below it. */
export const ofAccount = (id: string, below = ''): string => `/operator/accounts/${id}/${below}`;

export class OperatorApi {
  readonly dataDir: string;
  readonly #fetch: typeof fetch;
  readonly #transport: Transport;

  /**
   * @param send takes requests where the operator's rights are
   * @param dataDir an absolute path, for messages
   */
  constructor(send: typeof fetch, dataDir: string) {
    this.dataDir = dataDir;
    this.#fetch = send;
    this.#transport = new Transport({
      timeoutMs: LONGEST_MS,
      // A service that ends meanwhile leaves the work to this process.
      retries: 1,
      fetch: send,
      credential: () => ({}),
      renew: async () => false,
    });
  }

  /** @param path below the base path; operators' own begin with `/operator/` */
  async get<T>(path: string): Promise<T> {
    return (await this.#send('GET', path, json)) as T;
  }

  async post<T>(path: string, body: object = {}): Promise<T> {
    return (await this.#send('POST', path, json, body)) as T;
  }

  /** As `post`, with an Idempotency-Key of its own: sent again where the answer was lost, it acts once. */
  async postOnce<T>(path: string, body: object): Promise<T> {
    return (await this.#send('POST', path, json, body, randomUUID())) as T;
  }

  async delete(path: string): Promise<void> {
    await this.#send('DELETE', path, nothing);
  }

  /** The API as the client of an account has it; without one, as a client of all accounts. */
  as(accountId?: string): PressledgerClient {
    return new PressledgerClient({
      server: SERVER,
      timeoutMs: LONGEST_MS,
      retries: 1,
      fetch: async (input, init) => {
        const headers = new Headers(init?.headers);
        if (accountId !== undefined) headers.set('Pressledger-Account', accountId);
        return await this.#fetch(input, { ...init, headers });
      },
    });
  }

  /** The open account that signs in with the address. */
  async find(email: string): Promise<Account | undefined> {
    const query = new URLSearchParams({ email }).toString();
    return (await this.get<readonly Account[]>(`/operator/accounts/?${query}`)).at(0);
  }

  /** @throws {ServiceError} `not_found` */
  async account(email: string): Promise<Account> {
    const found = await this.find(email);
    if (found !== undefined) return found;
    throw new ServiceError('not_found', `There is no account for ${email}.`);
  }

  /** All open accounts, newest first. */
  accounts(): AsyncGenerator<Account> {
    return everyItem((page) => this.#pageOf<Account>('accounts', page, 100));
  }

  /**
   * Every event about a conversion, a batch or an account, oldest first.
   * @param subject an id, or the address of an account
   */
  history(subject: string, filter: Readonly<Record<string, string>>): AsyncGenerator<HistoryEntry> {
    const list = `histories/${encodeURIComponent(subject)}`;
    return everyItem((page) => this.#pageOf<HistoryEntry>(list, page, 100, filter));
  }

  /** The bundle of evidence of a conversion, as it comes. */
  async evidence(
    id: string,
  ): Promise<EvidenceFacts & { readonly content: ReadableStream<Uint8Array> }> {
    return await this.#send(
      'GET',
      `/operator/evidence/${encodeURIComponent(id)}/`,
      async (answer) => {
        const facts = decodeURIComponent(answer.headers.get('Pressledger-Evidence') ?? '');
        return { ...(JSON.parse(facts) as EvidenceFacts), content: await bodyOf(answer) };
      },
    );
  }

  /** Links that open accounts and that nobody has used, newest first. */
  signUpLinks(): AsyncGenerator<SignUpLink> {
    return everyItem((page) => this.#pageOf<SignUpLink>('sign-ups', page, 100));
  }

  /** The oldest open account. */
  async firstAccount(): Promise<Account | undefined> {
    const { total } = await this.#pageOf<Account>('accounts', 1, 1);
    return total === 0 ? undefined : (await this.#pageOf<Account>('accounts', total, 1)).items[0];
  }

  #pageOf<T>(
    list: string,
    number: number,
    size: number,
    filter: Readonly<Record<string, string>> = {},
  ): Promise<Page<T>> {
    const { page, pageSize, query } = pageQuery({ page: number, pageSize: size }, filter);
    return this.#send('GET', `/operator/${list}/?${query}`, pageReader<T>(page, pageSize));
  }

  #send<T>(
    method: Call['method'],
    path: string,
    read: (response: Response) => Promise<T>,
    body?: object,
    idempotencyKey?: string,
  ): Promise<T> {
    const url = `${SERVER}/api/v1${path}`;
    const call = {
      method,
      url,
      repeatable: method === 'GET' || idempotencyKey !== undefined,
      ...(body && { body }),
      ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
    };
    return this.#transport.send(call, read);
  }
}
