/** What people do while parts of a deployment break. */
import { bearer } from '../../client/src/transport.ts';
import { founderOf } from '../../src/domain/members.ts';
import { errorMessage } from '../../src/errors/error-message.ts';
import { linkIn } from '../support/mail.ts';
import type { Client, Login, Promises } from './promises.ts';
import type { Site } from './site.ts';

const CALL_MS = 20_000;
/** A key that ends a little later than a week from now is told of at once. */
const KEY_LIFE_MS = 7 * 24 * 60 * 60 * 1000 + 2000;
const PASSWORD = 'correct horse battery';

/** No answer, or one that says no more than that the client may come again. */
class Unanswered extends Error {
  override name = 'PressledgerUnreachable';
}

export const byKey = (key: string) => ({ 'X-API-Key': key });

interface Sent {
  readonly credential?: Readonly<Record<string, string>>;
  readonly body?: object;
}

type Answer = Readonly<Record<string, unknown>> & { readonly answered: number };

export async function call(
  site: Site,
  turn: number,
  [method, path]: readonly [string, string],
  { credential, body }: Sent = {},
): Promise<Answer> {
  const service = site.services[turn % site.services.length];
  const answer = await fetch(`${service?.url}/api/v1${path}`, {
    method,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...credential,
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_MS),
  })
    .then(async (given) => ({ status: given.status, text: await given.text() }))
    .catch((error: unknown) => {
      throw new Unanswered(errorMessage(error));
    });
  if (answer.status === 503) throw new Unanswered(answer.text);
  const given = answer.text === '' ? {} : (JSON.parse(answer.text) as object);
  return { ...given, answered: answer.status };
}

type Insist = <T>(what: string, ask: (turn: number) => Promise<T>) => Promise<T | undefined>;

/** What people do in a round. */
export class PeopleTraffic {
  readonly #site: Site;
  readonly #promises: Promises;
  readonly #insist: Insist;
  readonly #round: number;

  constructor(site: Site, promises: Promises, insist: Insist, round: number) {
    this.#site = site;
    this.#promises = promises;
    this.#insist = insist;
    this.#round = round;
  }

  async run(): Promise<void> {
    await Promise.all([this.#comeAndGo(), this.#suspend(), this.#openAccount()]);
  }

  /** Asks until one of the statuses is the answer. A clock that jumps ends sessions: then by another one. */
  #ask(
    what: string,
    request: (turn: number) => readonly [string, string],
    statuses: readonly number[],
    sent: { readonly as?: Login; readonly body?: (turn: number) => object } = {},
  ): Promise<Answer | undefined> {
    return this.#insist(what, async (turn) => {
      const credential = sent.as && bearer(String((await this.#signIn(sent.as, turn))['access']));
      const body = sent.body?.(turn);
      const given = { ...(credential && { credential }), ...(body && { body }) };
      const answer = await call(this.#site, turn, request(turn), given);
      if (answer.answered === 401 && sent.as) throw new Unanswered('the session has ended');
      if (!statuses.includes(answer.answered)) throw new Error(JSON.stringify(answer));
      return answer;
    });
  }

  async #signIn({ email, password }: Login, turn: number): Promise<Answer> {
    const body = { email, password };
    const pair = await call(this.#site, turn, ['POST', '/auth/jwt/create/'], { body });
    if (pair.answered !== 200) throw new Error(`${email} signs in: ${JSON.stringify(pair)}`);
    return pair;
  }

  /** The link that only the mail to the address brings. */
  #linkFor(email: string): string {
    const mail = this.#site.people.mails.find(({ to }) => to.includes(email));
    if (mail === undefined) throw new Unanswered('the mail has not come yet');
    return linkIn(mail);
  }

  /** Somebody is invited, joins, makes a key, converts and is removed. */
  async #comeAndGo(): Promise<void> {
    const { owner } = this.#site.people;
    const { people } = this.#promises;
    const by = founderOf(owner.client.accountId);
    let email = '';
    const invited = await this.#ask('an invitation', () => ['POST', '/account/members/'], [201], {
      as: owner,
      body: (turn) => {
        email = `member${this.#round}-${turn}@example.com`;
        return { email, role: 'member' };
      },
    });
    if (invited === undefined) return;
    people.acts.push({ type: 'MemberInvited', about: String(invited['id']), by });
    const link = await this.#insist(`the mail for ${email}`, async () => this.#linkFor(email));
    if (link === undefined) return;
    const token = link.split('#').at(-1);
    const login = { email, password: PASSWORD };
    const accept = ['POST', `/invitations/${token}/accept/`] as const;
    const joined = await this.#ask(`${email} joins`, () => accept, [200, 410], {
      body: () => ({ name: 'Bob', password: PASSWORD }),
    });
    const pair = joined && (await this.#insist(email, (turn) => this.#signIn(login, turn)));
    if (pair === undefined) return;
    const person = await this.#ask('a person', () => ['GET', '/account/person/'], [200], {
      as: login,
    });
    const made = await this.#ask('a key of a member', () => ['POST', '/api-keys/'], [201], {
      as: login,
      body: () => ({ name: `of ${email}`, scopes: ['convert', 'read'] }),
    });
    if (person === undefined || made === undefined) return;
    const [id, key] = [String(person['id']), String(made['key'])];
    people.acts.push({ type: 'KeyCreated', about: String(made['id']), by: id });
    await this.#convert({ ...owner.client, apiKey: key }, `by ${email}`);
    const path = ['DELETE', `/account/members/${id}/`] as const;
    // Removed by a request that got no answer: every node refuses all the same.
    const removed = await this.#ask(`${email} is removed`, () => path, [204, 404], { as: owner });
    if (removed === undefined) return;
    people.acts.push({ type: 'MemberRemoved', about: id, by });
    const [access, refresh] = [String(pair['access']), String(pair['refresh'])];
    people.removed.push({ ...login, id, key, access, refresh });
    await this.#insist(`${email} is gone`, async (turn) => {
      const { answered } = await call(this.#site, turn, ['GET', '/account/'], {
        credential: byKey(key),
      });
      if (answered !== 401)
        throw new Error(`the key of ${email}, who was removed, gets ${answered}`);
      return true;
    });
  }

  async #convert(client: Client, name: string): Promise<void> {
    const idempotencyKey = `${name}, round ${this.#round}`;
    const accepted = await this.#insist(idempotencyKey, (turn) =>
      this.#site.client(client.apiKey, turn).create({ html: `<p>${name}</p>` }, { idempotencyKey }),
    );
    if (accepted === undefined) return;
    const { id } = accepted;
    // Who made the key may be removed by now: the owner reads it.
    const owner = this.#site.clients.find(({ accountId }) => accountId === client.accountId);
    if (owner)
      this.#promises.conversions.push({ client: owner, id, fails: false, round: this.#round });
  }

  /** An account is suspended between two conversions. */
  async #suspend(): Promise<void> {
    const { operator, quiet } = this.#site.people;
    const at = `/operator/accounts/${quiet.accountId}`;
    const by = operator.accountId;
    await this.#convert(quiet, 'before the suspension');
    const suspended = await this.#ask('a suspension', () => ['POST', `${at}/suspend/`], [200], {
      as: operator,
      body: () => ({ reason: `Round ${this.#round}.` }),
    });
    if (suspended === undefined) return;
    this.#promises.people.acts.push({ type: 'AccountSuspended', about: quiet.accountId, by });
    for (const node of this.#site.services.keys()) {
      await this.#insist('a conversion of a suspended account', async (turn) => {
        const sent = { credential: byKey(quiet.apiKey), body: { html: '<p>suspended</p>' } };
        const { answered } = await call(this.#site, node + turn, ['POST', '/pdf/'], sent);
        if (answered !== 403) throw new Error(`it is answered with ${answered}`);
        return true;
      });
    }
    await this.#ask('an end of a suspension', () => ['POST', `${at}/resume/`], [200, 404], {
      as: operator,
      body: () => ({}),
    });
    await this.#convert(quiet, 'after the suspension');
  }

  /** An account is opened on a plan with monthly credits, whose founder forgets the password, and makes a key that ends. */
  async #openAccount(): Promise<void> {
    const { operator } = this.#site.people;
    const { people } = this.#promises;
    let login = { email: '', password: PASSWORD };
    const opened = await this.#ask('an account', () => ['POST', '/operator/accounts/'], [201], {
      as: operator,
      body: (turn) => {
        login = { ...login, email: `founder${this.#round}-${turn}@example.com` };
        return { ...login, plan: 'monthly', credits: 1 };
      },
    });
    if (opened === undefined) return;
    const accountId = String(opened['id']);
    people.monthly.push(accountId);
    people.acts.push({ type: 'AccountOpened', about: accountId, by: operator.accountId });
    const forgot = ['POST', '/auth/password/forgot/'] as const;
    const asked = await this.#ask('a link', () => forgot, [202, 429], {
      body: () => ({ email: login.email }),
    });
    if (asked?.answered === 202) people.resets.push(login.email);
    const made = await this.#ask('a key that ends', () => ['POST', '/api-keys/'], [201], {
      as: login,
      body: () => ({ name: 'ends', expires_at: new Date(Date.now() + KEY_LIFE_MS).toISOString() }),
    });
    if (made === undefined) return;
    people.acts.push({ type: 'KeyCreated', about: String(made['id']), by: founderOf(accountId) });
  }
}
