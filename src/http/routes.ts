/** Every route there is: the router and the OpenAPI document are both made of this one table. */
import type { Right } from './access.ts';
import type { Auth, Endpoint, Route } from './openapi/operation.ts';
import { changeOwnPassword, getAccount, listLedger } from './resources/account.ts';
import { deleteApiKey, listApiKeys, postApiKey } from './resources/api-keys.ts';
import * as authenticator from './resources/authenticator.ts';
import { createTokenPair, refreshAccess, signOut } from './resources/auth.ts';
import { getBatchZip, getConversionsZip } from './resources/zip.ts';
import { createBatch, deleteBatch, getBatch, listBatches } from './resources/batches.ts';
import * as stored from './resources/conversion-documents.ts';
import { streamConversions } from './resources/conversion-stream.ts';
import { createConversion, getConversion, getConversionFile } from './resources/conversions.ts';
import { listConversions } from './resources/conversion-list.ts';
import { createDocument } from './resources/documents.ts';
import * as dashboardSession from './resources/dashboard-session.ts';
import { postEmailChange, postEmailConfirmation } from './resources/email-change.ts';
import { getEvidence, verifyPdf } from './resources/evidence.ts';
import { getFile, getSharedFile } from './resources/files.ts';
import { listAccountEvents, listBatchEvents, listConversionEvents } from './resources/history.ts';
import {
  deleteHold,
  deleteKeyOfAccount,
  deleteRetention,
  getOperatorAccount,
  listOperatorAccounts,
  postCredits,
  postEndSessions,
  postErasure,
  postHold,
  postOperatorAccount,
  postPlan,
  postRetention,
} from './resources/operator-accounts.ts';
import { getAccountActivity, getServiceActivity } from './resources/operator-activity.ts';
import { listFailureGroups, listFailures } from './resources/operator-failures.ts';
import {
  postForgottenPassword,
  postPasswordReset,
  postResetLink,
} from './resources/password-reset.ts';
import { postResumption, postSuspension } from './resources/operator-suspension.ts';
import {
  getStatus,
  listCheckpoints,
  listProjections,
  postRebuild,
} from './resources/operator-service.ts';
import {
  getClientPackage,
  getHealth,
  getOpenApi,
  getReadiness,
  getReferencePage,
  getReferenceScript,
} from './resources/service.ts';
import {
  deleteMember,
  getInvitation,
  getPerson,
  listMembers,
  patchMember,
  patchPerson,
  postAcceptance,
  postMember,
} from './resources/members.ts';
import { PROVIDER_ROUTES } from './resources/provider-sign-in.ts';
import * as mails from './resources/mails.ts';
import { getOffers, verifyInPublic } from './resources/public-check.ts';
import { deletePublicName, getPublicName, putPublicName } from './resources/public-name.ts';
import { postAddressProof } from './resources/address-proofs.ts';
import {
  createTokenPairByPasskey,
  openDashboardSessionByPasskey,
  postPasskeyOptions,
} from './resources/passkey-sign-in.ts';
import {
  createPasskey,
  listPasskeys,
  patchPasskey,
  postPasskey,
  postPasskeyRemoval,
  requestPasskey,
} from './resources/passkeys.ts';
import { getSignInPolicy, patchSignInPolicy } from './resources/sign-in-policy.ts';
import { deleteSession, deleteSessions, listSessions } from './resources/sessions.ts';
import * as signUp from './resources/sign-up.ts';
import * as shareLinks from './resources/share-links.ts';
import { deleteConversion, postRerender, postRetry } from './resources/take-back.ts';
import {
  getCheckpoint,
  getConsistency,
  getConversionProof,
  getLogKey,
  getTile,
  getTimestamp,
} from './resources/transparency-log.ts';
import { deleteSignature, getSignature, putSignature } from './resources/signature.ts';
import {
  deleteTemplate,
  getTemplate,
  getTemplateVersion,
  listTemplates,
  listTemplateVersions,
  patchTemplate,
  postTemplate,
  postTemplateVersion,
  previewTemplate,
  previewText,
} from './resources/templates.ts';
import { createStatement } from './resources/statements.ts';
import { getUsage } from './resources/usage.ts';
import { getDelivery, listDeliveries, postRedelivery } from './resources/webhook-deliveries.ts';
import {
  deleteWebhook,
  getDefaultSecret,
  getWebhook,
  listWebhooks,
  patchWebhook,
  postRedeliveries,
  postWebhook,
  rotateDefaultSecret,
  rotateWebhook,
  testWebhook,
} from './resources/webhooks.ts';

export const BASE_PATH = '/api/v1';

type Method = Route['method'];

function api(method: Method, path: string, auth: Exclude<Auth, 'caller'>, endpoint: Endpoint) {
  return { method, path: BASE_PATH + path, auth, ...endpoint };
}

/** A route of people who are signed in, with what they need for it. */
function signedIn(right: Right, method: Method, path: string, endpoint: Endpoint) {
  return { ...api(method, path, 'session', endpoint), right };
}

/** A route that a session needs which lacks what its account requires of everybody who signs in. */
const settingUp = (route: Route): Route => ({ ...route, setsUpSignIn: true });

/** A route that changes what the person signs in with. */
function factor(path: string, endpoint: Endpoint): Route {
  return { ...signedIn('any', 'post', `/account/person/${path}`, endpoint), changesFactors: true };
}

/** A route of callers, with what they need for it: a line of the table in `access.ts`. */
function by(right: Right, method: Method, path: string, endpoint: Endpoint) {
  return { method, path: BASE_PATH + path, auth: 'caller', right, ...endpoint } as const;
}

function open(path: string, auth: Auth, endpoint: Endpoint) {
  return { method: 'get', path, auth, ...endpoint } as const;
}

/** A route that only our own pages and their readers use. */
function internal(method: Method, path: string, auth: Auth, endpoint: Endpoint) {
  return { method, path, auth, ...endpoint, isInternal: true };
}

/** Public and internal ones: the document that the service serves has the public ones alone. */
export const ROUTES: readonly Route[] = [
  by('convert', 'post', '/pdf/', createConversion),
  by('convert', 'post', '/documents/', createDocument),
  // Before the path with an id, which it would match too.
  by('read', 'get', '/conversions/stream/', streamConversions),
  by('documents', 'get', '/conversions/zip/', getConversionsZip),
  by('readOwn', 'get', '/conversions/{id}/', getConversion),
  by('convert', 'delete', '/conversions/{id}/', deleteConversion),
  by('convert', 'post', '/conversions/{id}/retry/', postRetry),
  by('convert', 'post', '/conversions/{id}/rerender/', postRerender),
  by('readOwn', 'get', '/conversions/{id}/links/', shareLinks.listLinks),
  by('share', 'post', '/conversions/{id}/links/', shareLinks.postLink),
  by('share', 'delete', '/conversions/{id}/links/{link_id}/', shareLinks.deleteLink),
  by('history', 'get', '/conversions/{id}/events/', listConversionEvents),
  by('documents', 'get', '/conversions/{id}/file/', getConversionFile),
  by('documents', 'get', '/conversions/{id}/request/', stored.getConversionRequest),
  by('documents', 'get', '/conversions/{id}/manifest/', stored.getConversionManifest),
  by('documents', 'get', '/conversions/{id}/picture/', stored.getConversionPicture),
  by('documents', 'get', '/conversions/{id}/thumbnail/', stored.getConversionThumbnail),
  by('history', 'get', '/conversions/{id}/proof/', getConversionProof),
  by('evidence', 'get', '/conversions/{id}/evidence/', getEvidence),
  by('read', 'get', '/conversions/', listConversions),
  by('convert', 'post', '/batches/', createBatch),
  by('read', 'get', '/batches/', listBatches),
  by('readOwn', 'get', '/batches/{id}/', getBatch),
  by('convert', 'delete', '/batches/{id}/', deleteBatch),
  by('history', 'get', '/batches/{id}/events/', listBatchEvents),
  by('documents', 'get', '/batches/{id}/zip/', getBatchZip),
  by('readTemplates', 'get', '/templates/', listTemplates),
  by('templates', 'post', '/templates/', postTemplate),
  // Before the paths with an id, which it would match too.
  by('fillTemplates', 'post', '/templates/preview/', previewText),
  by('readTemplates', 'get', '/templates/{id}/', getTemplate),
  by('templates', 'patch', '/templates/{id}/', patchTemplate),
  by('templates', 'delete', '/templates/{id}/', deleteTemplate),
  by('readTemplates', 'get', '/templates/{id}/versions/', listTemplateVersions),
  by('templates', 'post', '/templates/{id}/versions/', postTemplateVersion),
  by('templateContent', 'get', '/templates/{id}/versions/{version}/', getTemplateVersion),
  by('fillTemplates', 'post', '/templates/{id}/preview/', previewTemplate),
  by('evidence', 'post', '/verify/', verifyPdf),
  {
    ...verifyInPublic,
    method: 'post',
    path: '/verify/public',
    auth: 'address',
    needs: 'publicVerify',
  },
  open('/files/{id}.{format}', 'link', getFile),
  open('/s/{token}', 'link', getSharedFile),
  by('any', 'get', '/account/', getAccount),
  by('readAccount', 'get', '/account/ledger/', listLedger),
  by('readAccount', 'get', '/account/usage/', getUsage),
  by('statements', 'post', '/usage/statements/', createStatement),
  by('accountHistory', 'get', '/account/events/', listAccountEvents),
  by('readAccount', 'get', '/account/public-name/', getPublicName),
  by('settings', 'put', '/account/public-name/', putPublicName),
  by('settings', 'delete', '/account/public-name/', deletePublicName),
  by('readAccount', 'get', '/account/signature/', getSignature),
  by('settings', 'put', '/account/signature/', putSignature),
  by('settings', 'delete', '/account/signature/', deleteSignature),
  api('post', '/account/password/', 'session', changeOwnPassword),
  signedIn('any', 'post', '/account/email/', postEmailChange),
  signedIn('any', 'post', '/auth/email/confirm/', postEmailConfirmation),
  settingUp(signedIn('any', 'get', '/account/person/', getPerson)),
  signedIn('any', 'patch', '/account/person/', patchPerson),
  settingUp(signedIn('any', 'get', '/account/person/passkeys/', listPasskeys)),
  settingUp(factor('passkeys/', postPasskey)),
  settingUp(factor('passkeys/creation/', createPasskey)),
  settingUp(signedIn('any', 'post', '/account/person/passkeys/request/', requestPasskey)),
  signedIn('any', 'patch', '/account/person/passkeys/{id}/', patchPasskey),
  factor('passkeys/{id}/remove/', postPasskeyRemoval),
  signedIn('any', 'get', '/account/mails/', mails.getMails),
  signedIn('any', 'patch', '/account/mails/', mails.patchMails),
  by('readAccount', 'get', '/account/low-credits/', mails.getLowCredits),
  by('settings', 'put', '/account/low-credits/', mails.putLowCredits),
  by('settings', 'delete', '/account/low-credits/', mails.deleteLowCredits),
  signedIn('any', 'get', '/account/members/', listMembers),
  signedIn('members', 'post', '/account/members/', postMember),
  signedIn('members', 'patch', '/account/members/{id}/', patchMember),
  // Everybody may leave: the account decides who may remove whom.
  signedIn('any', 'delete', '/account/members/{id}/', deleteMember),
  settingUp(signedIn('any', 'get', '/account/person/totp/', authenticator.getAuthenticator)),
  settingUp(factor('totp/', authenticator.postAuthenticator)),
  settingUp(factor('totp/confirm/', authenticator.postAuthenticatorProof)),
  factor('totp/remove/', authenticator.postAuthenticatorRemoval),
  factor('recovery-codes/', authenticator.postRecoveryCodes),
  settingUp(signedIn('any', 'get', '/account/sign-in-policy/', getSignInPolicy)),
  signedIn('members', 'patch', '/account/sign-in-policy/', patchSignInPolicy),
  api('get', '/invitations/{token}/', 'address', getInvitation),
  api('post', '/invitations/{token}/accept/', 'address', postAcceptance),
  api('get', '/sessions/', 'session', listSessions),
  settingUp(api('delete', '/sessions/{id}/', 'session', deleteSession)),
  settingUp(api('delete', '/sessions/', 'session', deleteSessions)),
  by('readKeys', 'get', '/api-keys/', listApiKeys),
  by('keys', 'post', '/api-keys/', postApiKey),
  by('keys', 'delete', '/api-keys/{id}/', deleteApiKey),
  by('readWebhooks', 'get', '/webhooks/', listWebhooks),
  by('webhooks', 'post', '/webhooks/', postWebhook),
  // Before the paths with an id, which they would match too.
  by('readWebhooks', 'get', '/webhooks/secret/', getDefaultSecret),
  by('webhooks', 'post', '/webhooks/secret/rotate/', rotateDefaultSecret),
  by('readWebhooks', 'get', '/webhooks/deliveries/', listDeliveries),
  by('readWebhooks', 'get', '/webhooks/deliveries/{id}/', getDelivery),
  by('webhooks', 'post', '/webhooks/deliveries/{id}/redeliver/', postRedelivery),
  by('readWebhooks', 'get', '/webhooks/{id}/', getWebhook),
  by('webhooks', 'patch', '/webhooks/{id}/', patchWebhook),
  by('webhooks', 'delete', '/webhooks/{id}/', deleteWebhook),
  by('webhooks', 'post', '/webhooks/{id}/rotate/', rotateWebhook),
  by('webhooks', 'post', '/webhooks/{id}/test/', testWebhook),
  by('webhooks', 'post', '/webhooks/{id}/redeliver/', postRedeliveries),
  api('post', '/sign-up/', 'address', signUp.postSignUp),
  api('get', '/sign-up/{token}/', 'address', signUp.getSignUp),
  api('post', '/sign-up/{token}/accept/', 'address', signUp.postSignUpAcceptance),
  api('post', '/auth/jwt/create/', 'address', createTokenPair),
  api('post', '/auth/jwt/refresh/', 'address', refreshAccess),
  api('post', '/auth/jwt/revoke/', 'address', signOut),
  api('post', '/auth/passkey/options/', 'static', postPasskeyOptions),
  api('post', '/auth/passkey/create/', 'address', createTokenPairByPasskey),
  api('post', '/auth/password/reset/', 'address', postPasswordReset),
  { ...api('post', '/auth/password/forgot/', 'address', postForgottenPassword), needs: 'smtpUrl' },
  internal('post', '/dashboard/session', 'page', dashboardSession.openDashboardSession),
  internal('post', '/dashboard/session/passkey', 'page', openDashboardSessionByPasskey),
  internal('get', '/dashboard/session', 'cookie', dashboardSession.renewDashboardSession),
  internal('delete', '/dashboard/session', 'cookie', dashboardSession.endDashboardSession),
  ...PROVIDER_ROUTES,
  internal('get', '/dashboard/offers', 'none', getOffers),
  api('get', '/operator/status/', 'operator', getStatus),
  api('get', '/operator/activity/', 'operator', getServiceActivity),
  api('get', '/operator/failures/', 'operator', listFailures),
  api('get', '/operator/failures/groups/', 'operator', listFailureGroups),
  api('get', '/operator/projections/', 'operator', listProjections),
  api('post', '/operator/projections/rebuild/', 'operator', postRebuild),
  api('get', '/operator/checkpoints/', 'operator', listCheckpoints),
  api('get', '/operator/sign-ups/', 'operator', signUp.listSignUpLinks),
  api('post', '/operator/sign-ups/', 'operator', signUp.postSignUpInvitation),
  api('delete', '/operator/sign-ups/{id}/', 'operator', signUp.deleteSignUpLink),
  api('post', '/operator/reset-links/', 'operator', postResetLink),
  api('post', '/operator/second-factors/remove/', 'operator', authenticator.postLostAuthenticator),
  api('post', '/operator/addresses/prove/', 'operator', postAddressProof),
  api('get', '/operator/accounts/', 'operator', listOperatorAccounts),
  api('post', '/operator/accounts/', 'operator', postOperatorAccount),
  api('get', '/operator/accounts/{id}/', 'operator', getOperatorAccount),
  api('post', '/operator/accounts/{id}/plan/', 'operator', postPlan),
  api('post', '/operator/accounts/{id}/retention/', 'operator', postRetention),
  api('delete', '/operator/accounts/{id}/retention/', 'operator', deleteRetention),
  api('post', '/operator/accounts/{id}/credits/', 'operator', postCredits),
  api('post', '/operator/accounts/{id}/hold/', 'operator', postHold),
  api('delete', '/operator/accounts/{id}/hold/', 'operator', deleteHold),
  api('post', '/operator/accounts/{id}/suspend/', 'operator', postSuspension),
  api('post', '/operator/accounts/{id}/resume/', 'operator', postResumption),
  api('get', '/operator/accounts/{id}/activity/', 'operator', getAccountActivity),
  api('post', '/operator/accounts/{id}/sessions/end/', 'operator', postEndSessions),
  api('delete', '/operator/api-keys/{id}/', 'operator', deleteKeyOfAccount),
  api('post', '/operator/accounts/{id}/erase/', 'operator', postErasure),
  open('/tlog/checkpoint', 'address', getCheckpoint),
  open('/tlog/key', 'address', getLogKey),
  open('/tlog/tile/{path}', 'address', getTile),
  open('/tlog/consistency', 'address', getConsistency),
  open('/tlog/timestamp/{size}', 'address', getTimestamp),
  open('/healthz', 'none', getHealth),
  open('/readyz', 'none', getReadiness),
  internal('get', '/openapi.json', 'none', getOpenApi),
  internal('get', '/docs', 'none', getReferencePage),
  internal('get', '/docs/reference.js', 'static', getReferenceScript),
  internal('get', '/client.tgz', 'none', getClientPackage),
];
