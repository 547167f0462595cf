/** Templates of the account, their versions, and what they make of data. */
import { templateQueries } from '../../../projections/templates.ts';
import {
  contentOf,
  createTemplate,
  deleteTemplate as removeTemplate,
  renameTemplate,
  saveVersion,
  templateOf,
  templateRecord,
  versionRecord,
} from '../../accounts/templates.ts';
import { TEMPLATE_ID } from '../../domain/ids.ts';
import { MAX_CONTENT_BYTES, NO_TEMPLATE, type TemplateContent } from '../../domain/templates.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import {
  checkedTemplateName,
  checkPreview,
  checkSavedPreview,
  checkTemplateRequest,
  checkVersionRequest,
} from '../../requests/template.ts';
import { type ValidationIssues, validated } from '../../requests/validation.ts';
import type { TemplateTexts } from '../../templates/messages.ts';
import { callerOf, commandContext, type HttpContext, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { requestRules } from '../request-rules.ts';
import {
  createTemplateDoc,
  deleteTemplateDoc,
  getTemplateDoc,
  getVersionDoc,
  listTemplatesDoc,
  listVersionsDoc,
  previewTemplateDoc,
  previewTextDoc,
  renameTemplateDoc,
  saveVersionDoc,
} from './templates.api.ts';

const WHOLE_ID = new RegExp(`^${TEMPLATE_ID}$`);
/** Escapes and indentation make a body longer than what is stored of it. */
const MAX_BODY_BYTES = 3 * MAX_CONTENT_BYTES;

/** @throws {ServiceError} `not_found` where it can be no template's */
function templateIdOf(ctx: HttpContext): string {
  const id = pathParameter(ctx, 'id');
  if (!WHOLE_ID.test(id)) throw new ServiceError('not_found', NO_TEMPLATE);
  return id;
}

/**
 * What texts make of the data.
 * @param dataField the field of the body that holds the data
 * @throws {ServiceError} `validation_error`
 */
async function filledTexts(
  deps: RouteDependencies,
  accountId: string,
  content: Pick<TemplateContent, 'html' | 'header_html' | 'footer_html' | 'schema'>,
  data: object | undefined,
  dataField: 'data' | 'sample',
): Promise<TemplateTexts | undefined> {
  const { html, header_html, footer_html, schema } = content;
  const { filled, problems } = await deps.templates.preview(accountId, {
    texts: {
      html,
      ...(header_html !== undefined && { header_html }),
      ...(footer_html !== undefined && { footer_html }),
    },
    ...(schema && { schema: JSON.stringify(schema) }),
    data: data === undefined ? [] : [JSON.stringify(data)],
    maxBytes: deps.config.maxHtmlBytes,
    maxTotalBytes: deps.config.maxHtmlBytes,
  });
  const [first] = filled;
  const wrong = [
    ...problems,
    ...(first !== undefined && 'problems' in first ? first.problems : []),
  ];
  validated((issues) => {
    for (const {
      path: [field = '', ...steps],
      message,
    } of wrong) {
      issues.add([field === 'data' ? dataField : field, ...steps].join('.'), message);
    }
  });
  return first !== undefined && 'texts' in first ? first.texts : undefined;
}

/** Reads a body with a template, and sees that its texts can be read, and filled with its sample. */
async function readTemplate<Checked extends { readonly content: TemplateContent }>(
  ctx: HttpContext,
  deps: RouteDependencies,
  check: (
    body: object,
    issues: ValidationIssues,
    rules: Awaited<ReturnType<typeof requestRules>>,
  ) => Checked,
): Promise<Checked> {
  const rules = await requestRules(ctx, deps);
  const checked = await deps.bodies.readSmall(
    ctx,
    deps.config,
    (body, issues) => check(body, issues, rules),
    MAX_BODY_BYTES,
  );
  const { content } = checked;
  await filledTexts(deps, callerOf(ctx).accountId, content, content.sample, 'sample');
  return checked;
}

export const listTemplates: Endpoint = {
  doc: listTemplatesDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const page = validated((issues) => pageOf(ctx, issues));
    const queries = await consistentQuery(deps, templateQueries, ctx.state.asOf);
    const { rows, total } = queries.page(accountId, page);
    const records = await Promise.all(rows.map((row) => templateRecord(deps.vault, row)));
    sendPage(ctx, deps.publicUrl, page, total, records);
  },
};

export const postTemplate: Endpoint = {
  doc: createTemplateDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const asked = await readTemplate(ctx, deps, checkTemplateRequest);
    const row = await createTemplate(deps, accountId, asked, await commandContext(ctx, deps));
    ctx.status = 201;
    ctx.body = await templateRecord(deps.vault, row);
  },
};

export const getTemplate: Endpoint = {
  doc: getTemplateDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const row = await templateOf(deps, accountId, templateIdOf(ctx), ctx.state.asOf);
    ctx.body = await templateRecord(deps.vault, row);
  },
};

export const patchTemplate: Endpoint = {
  doc: renameTemplateDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = templateIdOf(ctx);
    const name = await deps.bodies.readSmall(ctx, deps.config, checkedTemplateName);
    const row = await renameTemplate(deps, accountId, id, name, await commandContext(ctx, deps));
    ctx.body = await templateRecord(deps.vault, row);
  },
};

export const deleteTemplate: Endpoint = {
  doc: deleteTemplateDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    await removeTemplate(deps, accountId, templateIdOf(ctx), await commandContext(ctx, deps));
    ctx.status = 204;
  },
};

export const listTemplateVersions: Endpoint = {
  doc: listVersionsDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = templateIdOf(ctx);
    const page = validated((issues) => pageOf(ctx, issues));
    await templateOf(deps, accountId, id, ctx.state.asOf);
    const { rows, total } = deps.readModel.query(templateQueries).versions(id, page);
    const records = await Promise.all(rows.map((row) => versionRecord(deps, row)));
    sendPage(ctx, deps.publicUrl, page, total, records);
  },
};

export const postTemplateVersion: Endpoint = {
  doc: saveVersionDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = templateIdOf(ctx);
    const { content } = await readTemplate(ctx, deps, (body, issues, rules) => ({
      content: checkVersionRequest(body, issues, rules),
    }));
    const row = await saveVersion(deps, accountId, id, content, await commandContext(ctx, deps));
    ctx.status = 201;
    ctx.body = await templateRecord(deps.vault, row);
  },
};

/** A version of a template of the caller, and what it holds. @throws {ServiceError} `not_found` */
async function versionIn(ctx: HttpContext, deps: RouteDependencies, number?: number) {
  const { accountId } = callerOf(ctx);
  const { id, version } = await templateOf(deps, accountId, templateIdOf(ctx), ctx.state.asOf);
  const row = deps.readModel.query(templateQueries).version(id, number ?? version);
  if (row === undefined) {
    throw new ServiceError('not_found', `There is no such version. The newest is ${version}.`);
  }
  return { row, content: await contentOf(deps, accountId, row) };
}

export const getTemplateVersion: Endpoint = {
  doc: getVersionDoc,
  handler: (deps) => async (ctx) => {
    const number = pathParameter(ctx, 'version');
    const { row, content } = await versionIn(
      ctx,
      deps,
      /^[1-9][0-9]{0,6}$/.test(number) ? Number(number) : 0,
    );
    ctx.body = { ...(await versionRecord(deps, row)), ...content };
  },
};

export const previewTemplate: Endpoint = {
  doc: previewTemplateDoc,
  handler: (deps) => async (ctx) => {
    const { version, data } = await deps.bodies.readSmall(
      ctx,
      deps.config,
      checkSavedPreview,
      MAX_BODY_BYTES,
    );
    const { content } = await versionIn(ctx, deps, version);
    const { accountId } = callerOf(ctx);
    ctx.body = await filledTexts(deps, accountId, content, data ?? content.sample ?? {}, 'data');
  },
};

export const previewText: Endpoint = {
  doc: previewTextDoc,
  handler: (deps) => async (ctx) => {
    const { texts, schema, data } = await deps.bodies.readSmall(
      ctx,
      deps.config,
      checkPreview,
      MAX_BODY_BYTES,
    );
    const content = { ...texts, ...(schema && { schema }) };
    ctx.body = await filledTexts(deps, callerOf(ctx).accountId, content, data, 'data');
  },
};
