/** Every route there is: the router and the OpenAPI document are both made of this one table. */
import type { Auth, Endpoint, Route } from './openapi/operation.ts';
import { changeOwnPassword, getAccount, listLedger } from './resources/account.ts';
import { deleteApiKey, listApiKeys, postApiKey } from './resources/api-keys.ts';
import { createTokenPair, refreshAccess, signOut } from './resources/auth.ts';
import { getBatchZip } from './resources/batch-zip.ts';
import { createBatch, deleteBatch, getBatch, listBatches } from './resources/batches.ts';
import {
  getConversionManifest,
  getConversionPicture,
  getConversionRequest,
} from './resources/conversion-documents.ts';
import { streamConversions } from './resources/conversion-stream.ts';
import {
  createConversion,
  getConversion,
  getConversionFile,
  listConversions,
} from './resources/conversions.ts';
import { createDocument } from './resources/documents.ts';
import {
  endDashboardSession,
  openDashboardSession,
  renewDashboardSession,
} from './resources/dashboard-session.ts';
import { getEvidence, verifyPdf } from './resources/evidence.ts';
import { getFile } from './resources/files.ts';
import { listAccountEvents, listBatchEvents, listConversionEvents } from './resources/history.ts';
import {
  deleteHold,
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
import {
  getStatus,
  listCheckpoints,
  listFailures,
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
import { getOffers, verifyInPublic } from './resources/public-check.ts';
import { deletePublicName, getPublicName, putPublicName } from './resources/public-name.ts';
import { deleteSession, deleteSessions, listSessions } from './resources/sessions.ts';
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

function api(method: Method, path: string, auth: Auth, endpoint: Endpoint) {
  return { method, path: BASE_PATH + path, auth, ...endpoint };
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
  api('post', '/pdf/', 'caller', createConversion),
  api('post', '/documents/', 'caller', createDocument),
  // Before the path with an id, which it would match too.
  api('get', '/conversions/stream/', 'caller', streamConversions),
  api('get', '/conversions/{id}/', 'caller', getConversion),
  api('delete', '/conversions/{id}/', 'caller', deleteConversion),
  api('post', '/conversions/{id}/retry/', 'caller', postRetry),
  api('post', '/conversions/{id}/rerender/', 'caller', postRerender),
  api('get', '/conversions/{id}/events/', 'caller', listConversionEvents),
  api('get', '/conversions/{id}/file/', 'caller', getConversionFile),
  api('get', '/conversions/{id}/request/', 'caller', getConversionRequest),
  api('get', '/conversions/{id}/manifest/', 'caller', getConversionManifest),
  api('get', '/conversions/{id}/picture/', 'caller', getConversionPicture),
  api('get', '/conversions/{id}/proof/', 'caller', getConversionProof),
  api('get', '/conversions/{id}/evidence/', 'caller', getEvidence),
  api('get', '/conversions/', 'caller', listConversions),
  api('post', '/batches/', 'caller', createBatch),
  api('get', '/batches/', 'caller', listBatches),
  api('get', '/batches/{id}/', 'caller', getBatch),
  api('delete', '/batches/{id}/', 'caller', deleteBatch),
  api('get', '/batches/{id}/events/', 'caller', listBatchEvents),
  api('get', '/batches/{id}/zip/', 'caller', getBatchZip),
  api('post', '/verify/', 'caller', verifyPdf),
  {
    ...verifyInPublic,
    method: 'post',
    path: '/verify/public',
    auth: 'address',
    needs: 'publicVerify',
  },
  open('/files/{id}.{format}', 'link', getFile),
  api('get', '/account/', 'caller', getAccount),
  api('get', '/account/ledger/', 'caller', listLedger),
  api('get', '/account/usage/', 'caller', getUsage),
  api('get', '/account/events/', 'caller', listAccountEvents),
  api('get', '/account/public-name/', 'caller', getPublicName),
  api('put', '/account/public-name/', 'caller', putPublicName),
  api('delete', '/account/public-name/', 'caller', deletePublicName),
  api('get', '/account/signature/', 'caller', getSignature),
  api('put', '/account/signature/', 'caller', putSignature),
  api('delete', '/account/signature/', 'caller', deleteSignature),
  api('post', '/account/password/', 'session', changeOwnPassword),
  api('get', '/sessions/', 'session', listSessions),
  api('delete', '/sessions/{id}/', 'session', deleteSession),
  api('delete', '/sessions/', 'session', deleteSessions),
  api('get', '/api-keys/', 'caller', listApiKeys),
  api('post', '/api-keys/', 'caller', postApiKey),
  api('delete', '/api-keys/{id}/', 'caller', deleteApiKey),
  api('get', '/webhooks/', 'caller', listWebhooks),
  api('post', '/webhooks/', 'caller', postWebhook),
  // Before the paths with an id, which they would match too.
  api('get', '/webhooks/secret/', 'caller', getDefaultSecret),
  api('post', '/webhooks/secret/rotate/', 'caller', rotateDefaultSecret),
  api('get', '/webhooks/deliveries/', 'caller', listDeliveries),
  api('get', '/webhooks/deliveries/{id}/', 'caller', getDelivery),
  api('post', '/webhooks/deliveries/{id}/redeliver/', 'caller', postRedelivery),
  api('get', '/webhooks/{id}/', 'caller', getWebhook),
  api('patch', '/webhooks/{id}/', 'caller', patchWebhook),
  api('delete', '/webhooks/{id}/', 'caller', deleteWebhook),
  api('post', '/webhooks/{id}/rotate/', 'caller', rotateWebhook),
  api('post', '/webhooks/{id}/test/', 'caller', testWebhook),
  api('post', '/webhooks/{id}/redeliver/', 'caller', postRedeliveries),
  api('post', '/auth/jwt/create/', 'address', createTokenPair),
  api('post', '/auth/jwt/refresh/', 'address', refreshAccess),
  api('post', '/auth/jwt/revoke/', 'address', signOut),
  internal('post', '/dashboard/session', 'page', openDashboardSession),
  internal('get', '/dashboard/session', 'cookie', renewDashboardSession),
  internal('delete', '/dashboard/session', 'cookie', endDashboardSession),
  internal('get', '/dashboard/offers', 'none', getOffers),
  api('get', '/operator/status/', 'operator', getStatus),
  api('get', '/operator/failures/', 'operator', listFailures),
  api('get', '/operator/projections/', 'operator', listProjections),
  api('post', '/operator/projections/rebuild/', 'operator', postRebuild),
  api('get', '/operator/checkpoints/', 'operator', listCheckpoints),
  api('get', '/operator/accounts/', 'operator', listOperatorAccounts),
  api('post', '/operator/accounts/', 'operator', postOperatorAccount),
  api('get', '/operator/accounts/{id}/', 'operator', getOperatorAccount),
  api('post', '/operator/accounts/{id}/plan/', 'operator', postPlan),
  api('post', '/operator/accounts/{id}/retention/', 'operator', postRetention),
  api('delete', '/operator/accounts/{id}/retention/', 'operator', deleteRetention),
  api('post', '/operator/accounts/{id}/credits/', 'operator', postCredits),
  api('post', '/operator/accounts/{id}/hold/', 'operator', postHold),
  api('delete', '/operator/accounts/{id}/hold/', 'operator', deleteHold),
  api('post', '/operator/accounts/{id}/sessions/end/', 'operator', postEndSessions),
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
