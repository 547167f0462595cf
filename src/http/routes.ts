/** Every route there is: the router and the OpenAPI document are both made of this one table. */
import type { Auth, Route } from './openapi/operation.ts';
import { getAccountDoc, listLedgerDoc } from './resources/account.api.ts';
import { getAccount, listLedger } from './resources/account.ts';
import { deleteApiKeyDoc, listApiKeysDoc, postApiKeyDoc } from './resources/api-keys.api.ts';
import { deleteApiKey, listApiKeys, postApiKey } from './resources/api-keys.ts';
import { createTokenPairDoc, refreshAccessDoc, signOutDoc } from './resources/auth.api.ts';
import { createTokenPair, refreshAccess, signOut } from './resources/auth.ts';
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
import { getFileDoc } from './resources/files.api.ts';
import { getFile } from './resources/files.ts';
import { listAccountEventsDoc, listConversionEventsDoc } from './resources/history.api.ts';
import { listAccountEvents, listConversionEvents } from './resources/history.ts';
import { getEvidenceDoc, verifyPdfDoc } from './resources/evidence.api.ts';
import { getEvidence, verifyPdf } from './resources/evidence.ts';
import {
  healthzDoc,
  openApiDoc,
  readyzDoc,
  referencePageDoc,
  referenceScriptDoc,
} from './resources/service.api.ts';
import {
  getOpenApi,
  getReferencePage,
  getReferenceScript,
  healthz,
  readyz,
} from './resources/service.ts';
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

export const ROUTES: readonly Route[] = [
  api('post', '/pdf/', 'caller', createConversion, createConversionDoc),
  api('get', '/conversions/{id}/', 'caller', getConversion, getConversionDoc),
  api('get', '/conversions/{id}/events/', 'caller', listConversionEvents, listConversionEventsDoc),
  api('get', '/conversions/{id}/file/', 'caller', getConversionFile, getConversionFileDoc),
  api('get', '/conversions/{id}/proof/', 'caller', getConversionProof, getConversionProofDoc),
  api('get', '/conversions/{id}/evidence/', 'caller', getEvidence, getEvidenceDoc),
  api('get', '/conversions/', 'caller', listConversions, listConversionsDoc),
  api('post', '/verify/', 'caller', verifyPdf, verifyPdfDoc),
  open('/files/{id}.pdf', 'link', getFile, getFileDoc),
  api('get', '/account/', 'caller', getAccount, getAccountDoc),
  api('get', '/account/ledger/', 'caller', listLedger, listLedgerDoc),
  api('get', '/account/events/', 'caller', listAccountEvents, listAccountEventsDoc),
  api('get', '/api-keys/', 'caller', listApiKeys, listApiKeysDoc),
  api('post', '/api-keys/', 'caller', postApiKey, postApiKeyDoc),
  api('delete', '/api-keys/{id}/', 'caller', deleteApiKey, deleteApiKeyDoc),
  api('post', '/auth/jwt/create/', 'address', createTokenPair, createTokenPairDoc),
  api('post', '/auth/jwt/refresh/', 'address', refreshAccess, refreshAccessDoc),
  api('post', '/auth/jwt/revoke/', 'address', signOut, signOutDoc),
  open('/tlog/checkpoint', 'address', getCheckpoint, getCheckpointDoc),
  open('/tlog/key', 'address', getLogKey, getLogKeyDoc),
  open('/tlog/tile/{path}', 'address', getTile, getTileDoc),
  open('/tlog/consistency', 'address', getConsistency, getConsistencyDoc),
  open('/tlog/timestamp/{size}', 'address', getTimestamp, getTimestampDoc),
  open('/healthz', 'none', () => healthz, healthzDoc),
  open('/readyz', 'none', readyz, readyzDoc),
  open('/openapi.json', 'none', getOpenApi, openApiDoc),
  open('/docs', 'none', getReferencePage, referencePageDoc),
  open('/docs/reference.js', 'static', getReferenceScript, referenceScriptDoc),
];
