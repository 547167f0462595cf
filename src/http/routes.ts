/** Every route there is: the router and the OpenAPI document are both made of this one table. */
import type { Auth, Route } from './openapi/operation.ts';
import { changePasswordDoc, getAccountDoc, listLedgerDoc } from './resources/account.api.ts';
import { changeOwnPassword, getAccount, listLedger } from './resources/account.ts';
import { deleteApiKeyDoc, listApiKeysDoc, postApiKeyDoc } from './resources/api-keys.api.ts';
import { deleteApiKey, listApiKeys, postApiKey } from './resources/api-keys.ts';
import { createTokenPairDoc, refreshAccessDoc, signOutDoc } from './resources/auth.api.ts';
import { createTokenPair, refreshAccess, signOut } from './resources/auth.ts';
import {
  getConversionManifestDoc,
  getConversionRequestDoc,
} from './resources/conversion-documents.api.ts';
import { getConversionManifest, getConversionRequest } from './resources/conversion-documents.ts';
import { streamConversionsDoc } from './resources/conversion-stream.api.ts';
import { streamConversions } from './resources/conversion-stream.ts';
import {
  createConversionDoc,
  getConversionDoc,
  getConversionFileDoc,
  listConversionsDoc,
} from './resources/conversions.api.ts';
import {
  createConversion,
  getConversion,
  getConversionFile,
  listConversions,
} from './resources/conversions.ts';
import {
  endDashboardSessionDoc,
  openDashboardSessionDoc,
  renewDashboardSessionDoc,
} from './resources/dashboard-session.api.ts';
import {
  endDashboardSession,
  openDashboardSession,
  renewDashboardSession,
} from './resources/dashboard-session.ts';
import { getEvidenceDoc, verifyPdfDoc } from './resources/evidence.api.ts';
import { getEvidence, verifyPdf } from './resources/evidence.ts';
import { getFileDoc } from './resources/files.api.ts';
import { getFile } from './resources/files.ts';
import { listAccountEventsDoc, listConversionEventsDoc } from './resources/history.api.ts';
import { listAccountEvents, listConversionEvents } from './resources/history.ts';
import {
  deleteHoldDoc,
  getOperatorAccountDoc,
  listOperatorAccountsDoc,
  postCreditsDoc,
  postEndSessionsDoc,
  postErasureDoc,
  postHoldDoc,
  postOperatorAccountDoc,
  postPlanDoc,
} from './resources/operator-accounts.api.ts';
import {
  deleteHold,
  getOperatorAccount,
  listOperatorAccounts,
  postCredits,
  postEndSessions,
  postErasure,
  postHold,
  postOperatorAccount,
  postPlan,
} from './resources/operator-accounts.ts';
import { listCheckpoints } from './resources/operator-checkpoints.ts';
import { listFailures } from './resources/operator-failures.ts';
import { listProjections, postRebuild } from './resources/operator-projections.ts';
import {
  getStatusDoc,
  listCheckpointsDoc,
  listFailuresDoc,
  listProjectionsDoc,
  postRebuildDoc,
} from './resources/operator-service.api.ts';
import { getStatus } from './resources/operator-service.ts';
import {
  clientPackageDoc,
  healthzDoc,
  openApiDoc,
  readyzDoc,
  referencePageDoc,
  referenceScriptDoc,
} from './resources/service.api.ts';
import {
  getClientPackage,
  getOpenApi,
  getReferencePage,
  getReferenceScript,
  healthz,
  readyz,
} from './resources/service.ts';
import { deleteSessionDoc, deleteSessionsDoc, listSessionsDoc } from './resources/sessions.api.ts';
import { deleteSession, deleteSessions, listSessions } from './resources/sessions.ts';
import {
  getCheckpointDoc,
  getConsistencyDoc,
  getConversionProofDoc,
  getLogKeyDoc,
  getTileDoc,
  getTimestampDoc,
} from './resources/transparency-log.api.ts';
import {
  getCheckpoint,
  getConsistency,
  getConversionProof,
  getLogKey,
  getTile,
  getTimestamp,
} from './resources/transparency-log.ts';
import { getUsageDoc } from './resources/usage.api.ts';
import { getUsage } from './resources/usage.ts';

export const BASE_PATH = '/api/v1';

type Handler = Route['handler'];
type Doc = Route['doc'];
type Method = Route['method'];

function api(method: Method, path: string, auth: Auth, handler: Handler, doc: Doc) {
  return { method, path: BASE_PATH + path, auth, handler, doc };
}

function open(path: string, auth: Auth, handler: Handler, doc: Doc) {
  return { method: 'get', path, auth, handler, doc } as const;
}

/** A route that only our own pages and their readers use. */
function internal(method: Method, path: string, auth: Auth, handler: Handler, doc: Doc) {
  return { method, path, auth, handler, doc, isInternal: true };
}

/** Public and internal ones: the document that the service serves has the public ones alone. */
export const ROUTES: readonly Route[] = [
  api('post', '/pdf/', 'caller', createConversion, createConversionDoc),
  // Before the path with an id, which it would match too.
  api('get', '/conversions/stream/', 'caller', streamConversions, streamConversionsDoc),
  api('get', '/conversions/{id}/', 'caller', getConversion, getConversionDoc),
  api('get', '/conversions/{id}/events/', 'caller', listConversionEvents, listConversionEventsDoc),
  api('get', '/conversions/{id}/file/', 'caller', getConversionFile, getConversionFileDoc),
  api('get', '/conversions/{id}/request/', 'caller', getConversionRequest, getConversionRequestDoc),
  api(
    'get',
    '/conversions/{id}/manifest/',
    'caller',
    getConversionManifest,
    getConversionManifestDoc,
  ),
  api('get', '/conversions/{id}/proof/', 'caller', getConversionProof, getConversionProofDoc),
  api('get', '/conversions/{id}/evidence/', 'caller', getEvidence, getEvidenceDoc),
  api('get', '/conversions/', 'caller', listConversions, listConversionsDoc),
  api('post', '/verify/', 'caller', verifyPdf, verifyPdfDoc),
  open('/files/{id}.pdf', 'link', getFile, getFileDoc),
  api('get', '/account/', 'caller', getAccount, getAccountDoc),
  api('get', '/account/ledger/', 'caller', listLedger, listLedgerDoc),
  api('get', '/account/usage/', 'caller', getUsage, getUsageDoc),
  api('get', '/account/events/', 'caller', listAccountEvents, listAccountEventsDoc),
  api('post', '/account/password/', 'session', changeOwnPassword, changePasswordDoc),
  api('get', '/sessions/', 'session', listSessions, listSessionsDoc),
  api('delete', '/sessions/{id}/', 'session', deleteSession, deleteSessionDoc),
  api('delete', '/sessions/', 'session', deleteSessions, deleteSessionsDoc),
  api('get', '/api-keys/', 'caller', listApiKeys, listApiKeysDoc),
  api('post', '/api-keys/', 'caller', postApiKey, postApiKeyDoc),
  api('delete', '/api-keys/{id}/', 'caller', deleteApiKey, deleteApiKeyDoc),
  api('post', '/auth/jwt/create/', 'address', createTokenPair, createTokenPairDoc),
  api('post', '/auth/jwt/refresh/', 'address', refreshAccess, refreshAccessDoc),
  api('post', '/auth/jwt/revoke/', 'address', signOut, signOutDoc),
  internal('post', '/dashboard/session', 'page', openDashboardSession, openDashboardSessionDoc),
  internal('get', '/dashboard/session', 'cookie', renewDashboardSession, renewDashboardSessionDoc),
  internal('delete', '/dashboard/session', 'cookie', endDashboardSession, endDashboardSessionDoc),
  api('get', '/operator/status/', 'operator', getStatus, getStatusDoc),
  api('get', '/operator/failures/', 'operator', listFailures, listFailuresDoc),
  api('get', '/operator/projections/', 'operator', listProjections, listProjectionsDoc),
  api('post', '/operator/projections/rebuild/', 'operator', postRebuild, postRebuildDoc),
  api('get', '/operator/checkpoints/', 'operator', listCheckpoints, listCheckpointsDoc),
  api('get', '/operator/accounts/', 'operator', listOperatorAccounts, listOperatorAccountsDoc),
  api('post', '/operator/accounts/', 'operator', postOperatorAccount, postOperatorAccountDoc),
  api('get', '/operator/accounts/{id}/', 'operator', getOperatorAccount, getOperatorAccountDoc),
  api('post', '/operator/accounts/{id}/plan/', 'operator', postPlan, postPlanDoc),
  api('post', '/operator/accounts/{id}/credits/', 'operator', postCredits, postCreditsDoc),
  api('post', '/operator/accounts/{id}/hold/', 'operator', postHold, postHoldDoc),
  api('delete', '/operator/accounts/{id}/hold/', 'operator', deleteHold, deleteHoldDoc),
  api(
    'post',
    '/operator/accounts/{id}/sessions/end/',
    'operator',
    postEndSessions,
    postEndSessionsDoc,
  ),
  api('post', '/operator/accounts/{id}/erase/', 'operator', postErasure, postErasureDoc),
  open('/tlog/checkpoint', 'address', getCheckpoint, getCheckpointDoc),
  open('/tlog/key', 'address', getLogKey, getLogKeyDoc),
  open('/tlog/tile/{path}', 'address', getTile, getTileDoc),
  open('/tlog/consistency', 'address', getConsistency, getConsistencyDoc),
  open('/tlog/timestamp/{size}', 'address', getTimestamp, getTimestampDoc),
  open('/healthz', 'none', () => healthz, healthzDoc),
  open('/readyz', 'none', readyz, readyzDoc),
  internal('get', '/openapi.json', 'none', getOpenApi, openApiDoc),
  internal('get', '/docs', 'none', getReferencePage, referencePageDoc),
  internal('get', '/docs/reference.js', 'static', getReferenceScript, referenceScriptDoc),
  internal('get', '/client.tgz', 'none', getClientPackage, clientPackageDoc),
];
