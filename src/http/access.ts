/** What callers need for each kind of route: the one table that routes name a line of, and its one check. */
import { KEY_SCOPES, type KeyScope } from '../domain/choices.ts';
import { ServiceError } from '../errors/errors.ts';
import { type HttpMiddleware, isByOperatorSocket } from './context.ts';

export interface Access {
  /** An API key needs all of them. */
  readonly scopes: readonly KeyScope[];
  /**
   * A key without `read` sees only what it made itself: it is let through with `convert`, and all else is not
   * there for it.
   */
  readonly own?: true;
}

/** By the right that a route names. */
export const ACCESS = {
  any: { scopes: [] },
  convert: { scopes: ['convert'], own: true },
  read: { scopes: ['read'] },
  readOwn: { scopes: ['read'], own: true },
  history: { scopes: ['history'] },
  /** Beside its history, it has the documents. */
  evidence: { scopes: ['read', 'history'] },
  keys: { scopes: ['keys'] },
  /** What PDFs are signed with, and who strangers are told made them. */
  settings: { scopes: ['keys'] },
  webhooks: { scopes: ['webhooks'] },
} as const satisfies Readonly<Record<string, Access>>;

export type Right = keyof typeof ACCESS;

export const accessOf = (right: Right): Access => ACCESS[right];

/** Says which scope a route needs. */
export function scopeText(right: Right): string {
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

/** Refuses API keys that lack a scope which the route needs. @throws {ServiceError} `forbidden` */
export function permit(right: Right): HttpMiddleware {
  const { scopes, own = false } = accessOf(right);
  return async (ctx, next) => {
    const has: readonly KeyScope[] = ctx.state.caller?.key?.scopes ?? KEY_SCOPES;
    const lacking = scopes.filter((scope) => !has.includes(scope));
    const isOwn = own && has.includes('convert');
    if (lacking.length > 0 && !isOwn && !isByOperatorSocket(ctx)) {
      throw new ServiceError('forbidden', lacksScope(lacking), { details: { scopes: lacking } });
    }
    ctx.state.seesOwnOnly = own && !has.includes('read');
    await next();
  };
}
