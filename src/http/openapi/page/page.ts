/** The reference page: HTML made once of the OpenAPI document. It runs no script and fetches nothing. */
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from '../types.ts';
import { row, rowsTable } from './fields.ts';
import { html, Html, prose } from './html.ts';
import { operation, response } from './operation.ts';
import { STYLE } from './style.ts';

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/** Its own policy: the style sheet in the page by its hash, and nothing else from anywhere. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function operationsOf(document: OpenApiDocument, tag: string) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, each]) => each.tags.includes(tag))
      .map(([method, each]) => ({ method, path, each })),
  );
}

const slug = (tag: string): string => tag.toLowerCase().replaceAll(' ', '-');

function navigation(document: OpenApiDocument): Html {
  const groups = document.tags.map(({ name }) => {
    const links = operationsOf(document, name).map(
      ({ method, each }) =>
        html`<li><a href="#${each.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> ${each.summary}</a></li>`,
    );
    return html`<p><a href="#${slug(name)}">${name}</a></p><ul>${links}</ul>`;
  });
  return html`<nav aria-label="Contents">${groups}<p><a href="#any-request">Any request</a></p>
<p><a href="#headers">Headers of answers</a></p>
<p><a href="/openapi.json">openapi.json</a></p></nav>`;
}

function section(document: OpenApiDocument, name: string, description: string): Html {
  const articles = operationsOf(document, name).map(({ method, path, each }) =>
    operation(method, path, each, document),
  );
  return html`<section><h2 id="${slug(name)}">${name}</h2><p class="dim">${description}</p>${articles}</section>`;
}

export function renderPage(document: OpenApiDocument): string {
  const { info, servers, tags } = document;
  const common = Object.entries(document['x-common-responses']);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API ${info.version}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<div class="layout">
<header>
<h1>${info.title} API</h1>
<p class="lead">${info.summary} Version ${info.version} at <code>${servers[0]?.url}</code></p>
</header>
${navigation(document)}
<main>
${info.description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
${tags.map(({ name, description }) => section(document, name, description))}
<section><h2 id="any-request">Any request</h2>
<p class="dim">What may be answered before an operation is found for the request.</p>
<div class="any">${common.map(([status, answer]) => response(status, answer, document))}</div>
</section>
<section><h2 id="headers">Headers of answers</h2>
${rowsTable(
  Object.entries(document.components.headers).map(([name, { description, schema }]) =>
    row(name, schema, { required: false, description }),
  ),
)}
</section>
</main>
</div>
</body>
</html>
`;
  return page.text;
}
