import { Validator } from '@seriousme/openapi-schema-validator';
import { test } from 'tap';
import { Compile } from 'typebox/compile';
import { WEBHOOK_TYPES } from '../../src/domain/choices.ts';
import { ERRORS, type ErrorCode } from '../../src/errors/errors.ts';
import type { Route } from '../../src/http/openapi/operation.ts';
import type { OpenApiDocument, SchemaObject } from '../../src/http/openapi/types.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { isBase64 } from '../../src/requests/files.ts';
import { BASE, startApi } from '../support/api.ts';
import {
  agrees,
  documentedAnswers,
  drives,
  examplesOf,
  responseOf,
} from '../support/documented.ts';
import { everyAnswer } from '../support/every-answer.ts';

void test('the document and the answers are the same', async (t) => {
  const api = await startApi(t);
  const given = await everyAnswer(t, api);
  const documented = documentedAnswers(api.document);
  t.strictSame([...given.keys()].toSorted(), documented.toSorted());
  t.equal(new Set(documented).size, documented.length);
  const codes = new Set(documented.map((each) => each.split(' ').at(-1)));
  for (const code of Object.keys(ERRORS) as ErrorCode[]) t.ok(codes.has(code), code);
  for (const { name, schema, value } of examplesOf(api.document)) {
    const answers = given.get(name) ?? [];
    const isTrue = answers.some((answer) => agrees(api.document, schema, value, answer));
    const [told, last] = [value, answers.at(-1)].map((each) => JSON.stringify(each)?.slice(0, 400));
    t.ok(isTrue, `${name} is never ${told} but ${last}`);
    const { error, message } = value as { readonly error?: ErrorCode; readonly message?: string };
    if (error === undefined || message !== ERRORS[error].message) continue;
    const texts = answers.map((answer) => (answer as { readonly message?: string }).message);
    t.ok(texts.includes(message), `${name} never says “${message}” but “${texts.at(-1)}”`);
  }
});

void test('an operation that refuses API keys says no scope of theirs', async (t) => {
  const { document } = await startApi(t);
  for (const [path, item] of Object.entries(document.paths)) {
    for (const { operationId, security, description } of Object.values(item)) {
      const isForKeys = security.some((each) => 'apiKey' in each);
      t.equal(/An API key needs/.test(description ?? ''), isForKeys, `${operationId} ${path}`);
    }
  }
});

const named = (of: readonly Route[] = []) =>
  of.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted();

void test('the document that is served has every public route, shaped for generators', async (t) => {
  const { document, call } = await startApi(t);
  const served = (await call('GET', '/openapi.json')).body as unknown as OpenApiDocument;
  const [internal, open] = [true, false].map((isInternal) =>
    ROUTES.filter((route) => (route.isInternal ?? false) === isInternal),
  );
  const inIt = drives(served).map(({ method, template }) => `${method} ${template}`);
  t.strictSame(inIt.toSorted(), named(open));
  t.strictSame(
    [...new Set(internal?.map(({ path }) => path.split('/')[1]))],
    ['dashboard', 'openapi.json', 'docs', 'client.tgz'],
  );
  t.match(JSON.stringify(served), /^(?!.*(dashboardCookie|Set-Cookie|DashboardAccess))/);
  const size = JSON.stringify(document).length;
  t.ok(size < 700_000, `${size} characters: are errors written out for each operation?`);
  for (const { template, operation } of drives(served)) {
    const { 'application/json': _, ...forms } = operation.requestBody?.content ?? {};
    for (const { schema } of Object.values(forms)) {
      t.notOk(schema?.$ref ?? schema?.properties, `${template}: NSwag makes parameters of them`);
    }
  }
});

void test('each object and enum has a name, and no tag is lost on a generator', async (t) => {
  const { document } = await startApi(t);
  const { components, paths, webhooks } = document;
  const nameless = (schema: SchemaObject): readonly string[] => {
    const { properties, items, additionalProperties: values, anyOf = [], oneOf = [] } = schema;
    const own = properties ?? schema.enum;
    const inner = [items, values, ...anyOf, ...oneOf].filter((each) => typeof each === 'object');
    return [...(own ? Object.values(own).map(String) : []), ...inner.flatMap(nameless)];
  };
  for (const [name, { properties = {}, enum: _, ...rest }] of Object.entries(components.schemas)) {
    for (const each of [...Object.values(properties), rest]) t.strictSame(nameless(each), [], name);
  }
  const sent = Object.values(webhooks).map(({ post }) => post);
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  for (const { operationId, parameters = [], requestBody, responses } of [...sent, ...operations]) {
    const answers = Object.values(responses).map((each) => responseOf(document, each));
    const bodies = [requestBody, ...answers].flatMap((each) => Object.values(each?.content ?? {}));
    for (const { schema = {} } of [...bodies, ...parameters]) {
      t.strictSame(nameless(schema), [], operationId);
    }
    t.notOk('304' in responses, `${operationId}: Kiota would lose the body of 200`);
  }
  const tagsOfRoutes = new Set(operations.flatMap(({ tags }) => tags));
  t.notOk(sent.some(({ tags }) => tags.some((tag) => tagsOfRoutes.has(tag))));
});

void test('what is base64 has an example that is', async (t) => {
  const { document } = await startApi(t);
  let count = 0;
  const look = (value: unknown, name = ''): void => {
    if (typeof value !== 'object' || value === null) return;
    const { contentEncoding, examples } = value as SchemaObject;
    if (contentEncoding === 'base64' && examples !== undefined) {
      count += 1;
      for (const each of examples) t.ok(isBase64(String(each)), `${name}: ${String(each)}`);
    }
    for (const [key, each] of Object.entries(value)) look(each, key);
  };
  look(document.components.schemas);
  t.ok(count > 0, `${count} fields`);
  const { requestBody } = document.paths[`${BASE}/account/signature/`]?.['put'] ?? {};
  const [{ value } = { value: {} }] = Object.values(
    requestBody?.content['application/json']?.examples ?? {},
  );
  t.ok(isBase64((value as { p12: string }).p12));
});

void test('optional fields of requests may be null, and lists say what they take twice', async (t) => {
  const { document } = await startApi(t);
  const { schemas } = document.components;
  const resolved = ({ $ref, ...schema }: SchemaObject): SchemaObject =>
    $ref === undefined ? schema : resolved(schemas[$ref.split('/').at(-1) ?? ''] ?? {});
  const mayBeNull = (schema: SchemaObject): boolean =>
    [schema.type].flat().includes('null') ||
    [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(mayBeNull) ||
    Object.keys(schema).every((key) => key === 'description');
  const look = (given: SchemaObject, name: string, seen: ReadonlySet<SchemaObject>): void => {
    const schema = resolved(given);
    if (seen.has(schema)) return;
    const { properties = {}, required = [], items, anyOf = [], oneOf = [] } = schema;
    for (const [field, each] of Object.entries(properties)) {
      if (!required.includes(field)) t.ok(mayBeNull(each), `${name}.${field}`);
      look(each, `${name}.${field}`, new Set([...seen, schema]));
    }
    for (const each of [...anyOf, ...oneOf, ...(items ? [items] : [])]) look(each, name, seen);
  };
  for (const { template, method, operation } of drives(document)) {
    const { schema } = operation.requestBody?.content['application/json'] ?? {};
    if (schema !== undefined) look(schema, `${method} ${template}`, new Set());
  }
  const isUnique = (name: string, field: string): boolean | undefined =>
    schemas[name]?.properties?.[field]?.uniqueItems;
  const once = [
    isUnique('CreateWebhookRequest', 'types'),
    isUnique('ChangeWebhookRequest', 'types'),
    isUnique('ApiKeyRequest', 'scopes'),
  ];
  t.strictSame(once, [true, true, true]);
});

void test('the requests that the document shows are accepted', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const { requestBody } = api.document.paths[`${BASE}/pdf/`]?.['post'] ?? {};
  const examples = requestBody?.content['application/json']?.examples ?? {};
  for (const [name, { value }] of Object.entries(examples)) {
    t.equal((await api.call('POST', `${BASE}/pdf/`, { key, body: value })).status, 202, name);
  }
});

void test('the document is OpenAPI 3.1, and its examples are what it says', async (t) => {
  const { document } = await startApi(t);
  const result = await new Validator().validate({ ...document });
  t.ok(result.valid, JSON.stringify(result.errors));
  const { components } = document;
  let count = 0;
  const requests = drives(document).flatMap(({ template, method, operation }) => {
    const { schema = {}, examples = {} } = operation.requestBody?.content['application/json'] ?? {};
    const name = `${method} ${template}`;
    return Object.values(examples).map(({ value }) => ({ name, schema, value }));
  });
  const sent = Object.entries(document.webhooks).flatMap(([name, { post }]) => {
    const { schema = {}, examples = {} } = post.requestBody?.content['application/json'] ?? {};
    return Object.values(examples).map(({ value }) => ({ name, schema, value }));
  });
  t.strictSame(
    Object.keys(document.webhooks).toSorted(),
    [...WEBHOOK_TYPES, 'webhook.test'].toSorted(),
  );
  for (const { name, schema, value } of [...requests, ...sent, ...examplesOf(document)]) {
    count += 1;
    const validator = Compile({ components, ...schema });
    const told = `${name}: ${JSON.stringify(value)}`;
    t.ok(validator.Check(value), `${told} ${JSON.stringify(validator.Errors(value))}`);
  }
  t.ok(count > 300, `${count} examples`);
});
