/** Every route there is: the router and the OpenAPI document are both made of this one table. */
import { getAccount, listLedger } from './account.ts';
import { deleteApiKey, listApiKeys, postApiKey } from './api-keys.ts';
import { createTokenPair, refreshAccess, signOut } from './auth.ts';
import { getConversion, listConversions } from './conversions.ts';
import { createConversion } from './create-conversion.ts';
import type { HttpDependencies } from './dependencies.ts';
import { getFile } from './files.ts';
import { healthz, readyz } from './health.ts';
import type { RequestBodies } from './middleware/body.ts';
import { getOpenApi, getReferencePage } from './openapi/handlers.ts';
import { getAccountDoc, listLedgerDoc } from './openapi/operations/account.ts';
import { deleteApiKeyDoc, listApiKeysDoc, postApiKeyDoc } from './openapi/operations/api-keys.ts';
import { createTokenPairDoc, refreshAccessDoc, signOutDoc } from './openapi/operations/auth.ts';
import {
  createConversionDoc,
  getConversionDoc,
  getFileDoc,
  listConversionsDoc,
} from './openapi/operations/conversions.ts';
import {
  healthzDoc,
  openApiDoc,
  readyzDoc,
  referencePageDoc,
} from './openapi/operations/service.ts';
import type { OpenApiDocument } from './openapi/types.ts';
import type { Auth, Route } from './route.ts';

const BASE_PATH = '/api/v1';

export interface RouteDependencies extends HttpDependencies {
  /** Aborted when the server closes: nothing is waited for any longer. */
  readonly closing: AbortSignal;
  readonly document: OpenApiDocument;
  readonly bodies: RequestBodies;
}

type Handler = Route<RouteDependencies>['handler'];
type Doc = Route<RouteDependencies>['doc'];
type Method = Route<RouteDependencies>['method'];

function api(method: Method, path: string, auth: Auth, handler: Handler, doc: Doc) {
  return { method, path: BASE_PATH + path, auth, handler, doc };
}

function open(path: string, auth: Auth, handler: Handler, doc: Doc) {
  return { method: 'get', path, auth, handler, doc } as const;
}

export const ROUTES: readonly Route<RouteDependencies>[] = [
  api('post', '/pdf/', 'caller', createConversion, createConversionDoc),
  api('get', '/conversions/{id}/', 'caller', getConversion, getConversionDoc),
  api('get', '/conversions/', 'caller', listConversions, listConversionsDoc),
  open('/files/{id}.pdf', 'link', getFile, getFileDoc),
  api('get', '/account/', 'caller', getAccount, getAccountDoc),
  api('get', '/account/ledger/', 'caller', listLedger, listLedgerDoc),
  api('get', '/api-keys/', 'caller', listApiKeys, listApiKeysDoc),
  api('post', '/api-keys/', 'caller', postApiKey, postApiKeyDoc),
  api('delete', '/api-keys/{id}/', 'caller', deleteApiKey, deleteApiKeyDoc),
  api('post', '/auth/jwt/create/', 'address', createTokenPair, createTokenPairDoc),
  api('post', '/auth/jwt/refresh/', 'address', refreshAccess, refreshAccessDoc),
  api('post', '/auth/jwt/revoke/', 'address', signOut, signOutDoc),
  open('/healthz', 'none', () => healthz, healthzDoc),
  open('/readyz', 'none', readyz, readyzDoc),
  open('/openapi.json', 'none', getOpenApi, openApiDoc),
  open('/docs', 'none', getReferencePage, referencePageDoc),
];
