import type { HttpMiddleware } from '../context.ts';
import { PAGE_POLICY, renderPage } from './page/page.ts';
import type { OpenApiDocument } from './types.ts';

interface DocumentDependencies {
  readonly document: OpenApiDocument;
}

export function getOpenApi({ document }: DocumentDependencies): HttpMiddleware {
  const text = Buffer.from(JSON.stringify(document));
  return (ctx) => {
    ctx.type = 'application/json';
    ctx.body = text;
  };
}

export function getReferencePage({ document }: DocumentDependencies): HttpMiddleware {
  const page = Buffer.from(renderPage(document));
  return (ctx) => {
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    ctx.type = 'text/html';
    ctx.body = page;
  };
}
