/** The people of the account: their roles, and invitations. A session is needed: API keys are refused. */
import type { CallOptions } from './options.ts';
import { everyItem, type Page, type PageQuery } from './pages.ts';
import type { Requests } from './requests.ts';

/** What a member may do: everything; convert and make keys of their own; read. */
export type Role = 'owner' | 'member' | 'auditor';

export interface Member {
  id: string;
  /** invited: the invitation is open, and the person has no rights yet. */
  status: 'active' | 'invited';
  /** null for a person who was erased. */
  email: string | null;
  /** null where none was given. */
  name: string | null;
  role: Role;
  /** They may read the text of documents. Auditors may only where an owner granted it. */
  documents: boolean;
  /** They have an authenticator or a passkey. Owners are told of members. */
  second_factor?: boolean;
  /** The time when the person joined, or was invited. */
  since: string;
  /** The time when the invitation ends. */
  expires_at?: string;
}

export interface InvitedMember extends Member {
  /** The link for the person, to hand over: shown only this once. null: the service sends it to the address, and nobody else gets it. */
  link: string | null;
  /** True if the service sends the link to the address. */
  sends_mail: boolean;
}

/** The person who is signed in. */
export interface Person {
  id: string;
  email: string | null;
  name: string | null;
  /** In the account of the session. */
  role: Role;
  documents: boolean;
  /** False for somebody who signs in with the identity provider alone. */
  has_password: boolean;
  /** The person whom an account was opened for that is an operator of the service. */
  operator: boolean;
  /** The routes for operators are open: an operator has changed the first password. */
  acts_as_operator: boolean;
  /** What the account requires at sign-in and this session has not proved: until then it may only set up its sign-in. */
  lacks: 'none' | 'second_factor' | 'oidc';
  /** The accounts that the person can sign in to, their own first. */
  accounts: PersonAccount[];
}

export interface PersonAccount {
  id: string;
  /** The address of the person whom the account was opened for. */
  name: string | null;
  role: Role;
  /** It is the account of the session. */
  current: boolean;
}

/** What everybody has to prove who signs in to the account; `oidc`: by the identity provider alone. */
export type SignInRequirement = 'none' | 'second_factor' | 'oidc';

export interface SignInPolicy {
  require: SignInRequirement;
}

/** A passkey of the person who is signed in. A browser makes and uses it: see the API's documentation. */
export interface Passkey {
  id: string;
  name: string;
  /** The time when it was added. */
  created_at: string;
  /** The time when it was last used; null: never yet. */
  last_used_at: string | null;
}

/** The mails that the person who is signed in gets. */
export interface MailChoices {
  credits_low: boolean;
  webhook_disabled: boolean;
  key_expiring: boolean;
}

export interface Mails extends MailChoices {
  /** True if the service has a mail server. */
  sends_mail: boolean;
}

export interface Invitation {
  account: string;
  account_name: string | null;
  email: string;
  role: Role;
  documents: boolean;
  expires_at: string;
}

export interface AcceptedInvitation {
  /** The person. */
  id: string;
  account: string;
  email: string;
  role: Role;
}

const PATH = '/account/members/';
const PERSON = '/account/person/';
const PASSKEYS = '/account/person/passkeys/';
const MAILS = '/account/mails/';
const POLICY = '/account/sign-in-policy/';
const pathOf = (id: string): string => `${PATH}${encodeURIComponent(id)}/`;
const invitationPath = (token: string): string => `/invitations/${encodeURIComponent(token)}/`;

export class Members {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Lists one page of the members and open invitations, newest first. */
  list(query: PageQuery = {}): Promise<Page<Member>> {
    return this.#requests.page(PATH, query, {});
  }

  /** Iterates over all members and open invitations, newest first, page by page. */
  all(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.list({ ...query, page }));
  }

  /**
   * Invites the holder of an address. Hand the link over unless `sends_mail` says that the service does.
   * @example const { link } = await client.members.invite({ email: 'bob@example.com', role: 'auditor' });
   */
  invite(
    invitation: { readonly email: string; readonly role: Role; readonly documents?: boolean },
    options: CallOptions = {},
  ): Promise<InvitedMember> {
    return this.#requests.json('POST', PATH, { ...options, body: invitation });
  }

  /** Gives a member another role, or an auditor the right to documents. */
  change(
    id: string,
    change: { readonly role?: Role; readonly documents?: boolean },
    options: CallOptions = {},
  ): Promise<Member> {
    return this.#requests.json('PATCH', pathOf(id), { ...options, body: change });
  }

  /** Removes a member, whose sessions and keys of the account end at once, or revokes an invitation. */
  remove(id: string, options: CallOptions = {}): Promise<void> {
    return this.#requests.remove(pathOf(id), options);
  }

  /** Leaves the account: the session of this client ends, too. */
  async leave(options: CallOptions = {}): Promise<void> {
    await this.remove((await this.person(options)).id, options);
  }

  /** Retrieves what the account requires of everybody who signs in. */
  signInPolicy(options: CallOptions = {}): Promise<SignInPolicy> {
    return this.#requests.json('GET', POLICY, options);
  }

  /** Changes it, for owners. Sessions that lack it may do nothing but set it up from then on; API keys go on. */
  changeSignInPolicy(policy: SignInPolicy, options: CallOptions = {}): Promise<SignInPolicy> {
    return this.#requests.json('PATCH', POLICY, { ...options, body: policy });
  }

  /** Retrieves which mails the person who is signed in gets. */
  mails(options: CallOptions = {}): Promise<Mails> {
    return this.#requests.json('GET', MAILS, options);
  }

  /** Changes which mails they get. What is not given stays as it is. */
  changeMails(change: Partial<MailChoices>, options: CallOptions = {}): Promise<Mails> {
    return this.#requests.json('PATCH', MAILS, { ...options, body: change });
  }

  /** Retrieves the person who is signed in, and their accounts. */
  person(options: CallOptions = {}): Promise<Person> {
    return this.#requests.json('GET', PERSON, options);
  }

  /** Changes the name of the person who is signed in. */
  rename(name: string, options: CallOptions = {}): Promise<Person> {
    return this.#requests.json('PATCH', PERSON, { ...options, body: { name } });
  }

  /**
   * Changes the address that the person signs in with. With `sends_mail`, once they use the link that is sent to it. All
   * their sessions end then.
   * @param password their own; undefined for somebody who has none
   */
  changeEmail(
    email: string,
    password?: string,
    options: CallOptions = {},
  ): Promise<{ sends_mail: boolean }> {
    const body = { email, ...(password !== undefined && { password }) };
    return this.#requests.json('POST', '/account/email/', { ...options, body });
  }

  /** Lists the passkeys of the person who is signed in. */
  passkeys(options: CallOptions = {}): Promise<Passkey[]> {
    return this.#requests.json('GET', PASSKEYS, options);
  }

  /** Renames one of them. */
  renamePasskey(id: string, name: string, options: CallOptions = {}): Promise<Passkey> {
    const path = `${PASSKEYS}${encodeURIComponent(id)}/`;
    return this.#requests.json('PATCH', path, { ...options, body: { name } });
  }

  /** Removes one of them: it does not sign in any more. @param password of the person */
  removePasskey(id: string, password: string, options: CallOptions = {}): Promise<void> {
    const path = `${PASSKEYS}${encodeURIComponent(id)}/remove/`;
    return this.#requests.post(path, { ...options, body: { password } });
  }

  /** Retrieves what an invitation is for. @param token the part of its link behind # */
  invitation(token: string, options: CallOptions = {}): Promise<Invitation> {
    return this.#requests.json('GET', invitationPath(token), options);
  }

  /**
   * Accepts an invitation. It opens no session: sign in afterwards.
   * @param acceptance with the new password or, for an address that signs in already, its password; with a session of that
   * person, none
   */
  accept(
    token: string,
    acceptance: { readonly name: string; readonly password?: string },
    options: CallOptions = {},
  ): Promise<AcceptedInvitation> {
    const path = `${invitationPath(token)}accept/`;
    return this.#requests.json('POST', path, { ...options, body: acceptance });
  }
}
