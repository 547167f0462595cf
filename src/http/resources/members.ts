/** The people of the account: their roles, invitations, and who is asking. */
import { people, peopleQueries } from '../../../projections/people.ts';
import { loginOf, openMemberships, personTexts } from '../../accounts/logins.ts';
import { acceptInvitation, invitationOf, inviteMember } from '../../accounts/invitations.ts';
import {
  accountName,
  changeMember,
  memberOf,
  memberRecord,
  namePerson,
  removeMember,
} from '../../accounts/members.ts';
import { PERSON_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { validated } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { momentOf, readAsOf } from '../as-of.ts';
import {
  callerOf,
  commandContext,
  type HttpContext,
  isByOperatorSocket,
  pathParameter,
} from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { presentsCredential } from '../middleware/credential.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { pageLinks } from '../page-links.ts';
import { pageOf, sendPage } from '../pagination.ts';
import {
  acceptInvitationDoc,
  checkAcceptance,
  checkInvitation,
  checkMemberChange,
  checkPersonChange,
  deleteMemberDoc,
  getInvitationDoc,
  getPersonDoc,
  listMembersDoc,
  patchMemberDoc,
  patchPersonDoc,
  postMemberDoc,
} from './members.api.ts';

const wholeId = new RegExp(`^${PERSON_ID}$`);

/** @throws {ServiceError} `not_found` */
function memberIdOf(ctx: HttpContext): string {
  const id = pathParameter(ctx, 'id');
  if (!wholeId.test(id)) throw new ServiceError('not_found', 'There is no such member.');
  return id;
}

/** The member who asks; undefined: the operator, for whom the account's rules about roles do not count. */
function askerOf(ctx: HttpContext): string | undefined {
  return isByOperatorSocket(ctx) ? undefined : signedInOf(callerOf(ctx)).person;
}

/** Members need not know who of the others is easier to attack. */
function isForOwner(ctx: HttpContext): boolean {
  const { actor } = callerOf(ctx);
  return actor.kind === 'operator' || actor.role === 'owner';
}

export const listMembers: Endpoint = {
  doc: listMembersDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { page, moment } = validated((issues) => ({
      page: pageOf(ctx, issues, ['as_of']),
      moment: momentOf(ctx, deps, issues),
    }));
    const view = { projection: people, queries: peopleQueries };
    const at = moment !== undefined && 'time' in moment ? moment.time : deps.clock.now();
    const { rows, total } = await readAsOf(ctx, deps, moment, view, (queries) =>
      queries.page(accountId, at, page),
    );
    const records = await Promise.all(rows.map((row) => memberRecord(deps, row, isForOwner(ctx))));
    sendPage(ctx, deps.publicUrl, page, total, records);
  },
};

export const postMember: Endpoint = {
  doc: postMemberDoc,
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const person = askerOf(ctx);
    const asked = await deps.bodies.readSmall(ctx, deps.config, checkInvitation);
    const context = await commandContext(ctx, deps);
    const sendsMail = deps.config.smtpUrl !== undefined;
    const invited = { ...asked, sendsMail };
    const { row, token } = await inviteMember(deps, caller.accountId, invited, person, context);
    const record = await memberRecord(deps, row, true);
    ctx.status = 201;
    const link = token === undefined ? null : pageLinks(() => deps.publicUrl).invitation(token);
    ctx.body = { ...record, link, sends_mail: sendsMail };
  },
};

export const patchMember: Endpoint = {
  doc: patchMemberDoc,
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const person = askerOf(ctx);
    const id = memberIdOf(ctx);
    const change = await deps.bodies.readSmall(ctx, deps.config, checkMemberChange);
    const context = await commandContext(ctx, deps);
    ctx.body = await memberRecord(
      deps,
      await changeMember(deps, caller.accountId, id, change, person, context),
      true,
    );
  },
};

export const deleteMember: Endpoint = {
  doc: deleteMemberDoc,
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const person = askerOf(ctx);
    const context = await commandContext(ctx, deps);
    await removeMember(deps, caller.accountId, memberIdOf(ctx), person, context);
    ctx.status = 204;
  },
};

async function sendPerson(ctx: HttpContext, deps: RouteDependencies): Promise<void> {
  const caller = callerOf(ctx);
  const { person, role } = signedInOf(caller);
  const { email = null, name = null } = await personTexts(deps, person);
  const memberships = await openMemberships(deps, person);
  const accounts = memberships.map(async ({ accountId: id, role: as }) => ({
    id,
    name: await accountName(deps, id),
    role: as,
    current: id === caller.accountId,
  }));
  const { mayReadDocuments: documents, isOperator: operator, mustChangePassword } = caller;
  ctx.body = {
    id: person,
    email,
    name,
    role,
    documents,
    has_password: (await loginOf(deps, person))?.passwordHash !== '',
    operator,
    acts_as_operator: operator && !mustChangePassword,
    lacks: caller.lacking ?? 'none',
    accounts: await Promise.all(accounts),
  };
}

export const getPerson: Endpoint = {
  doc: getPersonDoc,
  handler: (deps) => (ctx) => sendPerson(ctx, deps),
};

export const patchPerson: Endpoint = {
  doc: patchPersonDoc,
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const { person } = signedInOf(caller);
    const { name } = await deps.bodies.readSmall(ctx, deps.config, checkPersonChange);
    await namePerson(deps, person, caller.accountId, name, await commandContext(ctx, deps));
    await memberOf(deps, caller.accountId, person);
    await sendPerson(ctx, deps);
  },
};

export const getInvitation: Endpoint = {
  doc: getInvitationDoc,
  handler: (deps) => async (ctx) => {
    const invitation = await invitationOf(deps, pathParameter(ctx, 'token'));
    const { accountId, email, role, documents, expiresAt } = invitation;
    ctx.body = {
      account: accountId,
      account_name: await accountName(deps, accountId),
      email,
      role,
      documents: documents || role !== 'auditor',
      expires_at: isoTime(expiresAt),
    };
  },
};

export const postAcceptance: Endpoint = {
  doc: acceptInvitationDoc,
  handler: (deps) => async (ctx) => {
    const given = await deps.bodies.readSmall(ctx, deps.config, checkAcceptance);
    const invitation = await invitationOf(deps, pathParameter(ctx, 'token'));
    // A session that does not hold must not make somebody else's password be asked for.
    const caller = presentsCredential(ctx) ? await deps.findCaller(ctx) : undefined;
    if (presentsCredential(ctx) && caller?.actor.kind !== 'session') {
      throw new ServiceError('unauthorized');
    }
    const signedIn = caller && { signedIn: signedInOf(caller).person };
    const { clientAddress, requestId, loggedId, log } = ctx.state;
    const request = { ...given, ...signedIn, clientAddress, requestId, loggedId, log };
    const { accountId, email, role } = invitation;
    const person = await acceptInvitation(deps, invitation, request, (actor) =>
      commandContext(ctx, deps, { accountId, actor }),
    );
    ctx.body = { id: person, account: accountId, email, role };
  },
};
