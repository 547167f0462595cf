/** What callers need for each kind of route: the one table that routes name a line of, and its one check. */
import { KEY_SCOPES, type KeyScope } from '../domain/choices.ts';
import type { Role } from '../domain/member-events.ts';
import { ServiceError } from '../errors/errors.ts';
import { type Caller, type HttpMiddleware, isByOperatorSocket } from './context.ts';

export interface Access {
  /** An API key needs all of them. */
  readonly scopes: readonly KeyScope[];
  /**
   * A key without `read` sees only what it made itself: it is let through with `convert`, and all else is not
   * there for it.
   */
  readonly own?: true;
  /** The roles that may ask, by a session or by a key that they made; absent: all. */
  readonly roles?: readonly Role[];
  /** It has the text of documents: an auditor needs the right to them, too. */
  readonly documents?: true;
  /** A test key is let through, and sees and changes only tests and test keys; absent: it is refused. */
  readonly tests?: true;
}

/** Those who work with the account, and not only look at it. */
const WORKING = ['owner', 'member'] as const;
const OWNER = ['owner'] as const;

/** By the right that a route names. */
export const ACCESS = {
  any: { scopes: [], tests: true },
  convert: { scopes: ['convert'], own: true, roles: WORKING, tests: true },
  read: { scopes: ['read'], tests: true },
  readOwn: { scopes: ['read'], own: true, tests: true },
  documents: { scopes: ['read'], own: true, documents: true, tests: true },
  /** A link outlasts what reads the document, and strangers use it. */
  share: { scopes: ['read'], own: true, roles: WORKING, tests: true },
  /** What the account uses and how it is set up: there is one of each for tests and all else. */
  readAccount: { scopes: ['read'] },
  /** It says what everybody used, and is signed for the account. */
  statements: { scopes: ['convert', 'history'], roles: OWNER },
  readTemplates: { scopes: ['read'] },
  /** What a template holds is what documents are made of. */
  templateContent: { scopes: ['read'], documents: true },
  /** A test of a template fills it, too. */
  fillTemplates: { scopes: ['read'], documents: true, tests: true },
  /** Whoever saves a template decides what later documents say. */
  templates: { scopes: ['templates'], roles: WORKING },
  history: { scopes: ['history'], tests: true },
  accountHistory: { scopes: ['history'] },
  /** Beside its history, it has the documents. */
  evidence: { scopes: ['read', 'history'], tests: true },
  readKeys: { scopes: ['keys'], tests: true },
  keys: { scopes: ['keys'], roles: WORKING, tests: true },
  /** What PDFs are signed with, and who strangers are told made them. */
  settings: { scopes: ['keys'], roles: OWNER },
  readWebhooks: { scopes: ['webhooks'] },
  /** An endpoint is told of all documents, and outlasts the membership of who made it. */
  webhooks: { scopes: ['webhooks'], roles: OWNER },
  members: { scopes: [], roles: OWNER },
} as const satisfies Readonly<Record<string, Access>>;

export type Right = keyof typeof ACCESS;

export const accessOf = (right: Right): Access => ACCESS[right];

const FOR_LIVE_KEYS =
  'A test key sees and changes only tests and test keys. Use a key that begins with pk_live_.';

/**
 * Says what a route needs: the scopes of a key, and the role of a person.
 * @param isForKeys false for a route that refuses them
 */
export function accessText(right: Right, isForKeys: boolean): string {
  const { roles, documents, tests } = accessOf(right);
  const ofTests = tests ? '' : ' Test keys are refused.';
  const keyText = isForKeys ? `${scopeText(right)}${ofTests}` : 'API keys are refused.';
  const roleText =
    roles && ` People need the role ${roles.map((role) => `\`${role}\``).join(' or ')}.`;
  const ofDocuments = documents && ' Auditors need the right to documents.';
  return `${keyText}${roleText ?? ofDocuments ?? ''}`;
}

function scopeText(right: Right): string {
  const { scopes, own } = accessOf(right);
  const [first = '', second] = scopes.map((scope) => `\`${scope}\``);
  if (second !== undefined) return `An API key needs the scopes ${first} and ${second}.`;
  if (first === '') return 'An API key needs no scope.';
  if (!own) return `An API key needs the scope ${first}.`;
  return right === 'convert'
    ? `An API key needs the scope ${first}, and \`read\` for what another key made.`
    : `An API key needs the scope ${first}, or \`convert\` for what it made itself.`;
}

export const lacksScope = (needed: readonly KeyScope[]): string =>
  `This API key lacks the scope ${needed.join(' and ')}. Use a key that has it.`;

export const lacksRole = (role: Role, needed: readonly Role[]): string =>
  `Your role in this account is ${role}: this needs the role ${needed.join(' or ')}. Ask an owner of the account.`;

const NO_DOCUMENTS =
  'An auditor may read documents only where that was granted. Ask an owner of the account.';

/** @throws {ServiceError} `forbidden` */
function assertRole({ actor, mayReadDocuments }: Caller, { roles, documents }: Access): void {
  if (!('role' in actor)) return;
  if (roles !== undefined && !roles.includes(actor.role)) {
    throw new ServiceError('forbidden', lacksRole(actor.role, roles), { details: { roles } });
  }
  if (documents && !mayReadDocuments) throw new ServiceError('forbidden', NO_DOCUMENTS);
}

/** Refuses people whose role, and API keys whose scopes, do not allow the route. @throws {ServiceError} `forbidden` */
export function permit(right: Right): HttpMiddleware {
  const access = accessOf(right);
  const { scopes, own = false, tests = false } = access;
  return async (ctx, next) => {
    if (ctx.state.caller !== undefined) assertRole(ctx.state.caller, access);
    const key = ctx.state.caller?.key;
    const has: readonly KeyScope[] = key?.scopes ?? KEY_SCOPES;
    const lacking = scopes.filter((scope) => !has.includes(scope));
    const isOwn = own && has.includes('convert');
    if (lacking.length > 0 && !isOwn && !isByOperatorSocket(ctx)) {
      throw new ServiceError('forbidden', lacksScope(lacking), { details: { scopes: lacking } });
    }
    if (key?.isTest === true && !tests) throw new ServiceError('forbidden', FOR_LIVE_KEYS);
    ctx.state.seesOwnOnly = own && !has.includes('read');
    await next();
  };
}
