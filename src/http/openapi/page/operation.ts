import type {
  MediaTypeObject,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from '../types.ts';
import { fieldsOf, row, rowsTable } from './fields.ts';
import { html, type Html, json, prose } from './html.ts';

const PLACES: readonly (readonly [ParameterObject['in'], string])[] = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers'],
];

function parameters({ parameters: all = [] }: OperationObject): readonly Html[] {
  return PLACES.flatMap(([place, title]) => {
    const here = all.filter((each) => each.in === place);
    const rows = here.map(({ name, schema, required, description }) =>
      row(name, schema, { required, description }),
    );
    return rows.length === 0 ? [] : [html`<h4>${title}</h4>${rowsTable(rows)}`];
  });
}

function examples({ examples: all = {} }: MediaTypeObject): readonly Html[] {
  const named = Object.entries(all);
  return named.map(
    ([name, { value }]) =>
      html`${named.length > 1 ? html`<p class="label">${name}</p>` : undefined}${json(value)}`,
  );
}

function requestBody({ requestBody: body }: OperationObject, document: OpenApiDocument) {
  const media = body?.content['application/json'];
  if (!media?.schema) return undefined;
  return html`<h4>Body</h4>
${fieldsOf(media.schema, document.components.schemas)}
<details><summary>Examples</summary>${examples(media)}</details>`;
}

function errorCode(media: MediaTypeObject | undefined): string | undefined {
  const code = media?.schema?.properties?.['error']?.const;
  return typeof code === 'string' ? code : undefined;
}

export function response(status: string, answer: ResponseObject, document: OpenApiDocument): Html {
  const [entry] = Object.entries(answer.content ?? {});
  const [type, media] = entry ?? [];
  const code = errorCode(media);
  const headers = Object.keys(answer.headers ?? {});
  const fields =
    code === undefined && media?.schema
      ? fieldsOf(media.schema, document.components.schemas)
      : undefined;
  return html`<details class="answer">
<summary><span class="status s${status[0]}">${status}</span> ${
    code === undefined ? undefined : html`<code>${code}</code> `
  }<span>${prose(answer.description)}</span></summary>
${type === undefined ? undefined : html`<p class="label">${type}</p>`}${fields}${
  media ? examples(media) : undefined
}${headers.length === 0 ? undefined : html`<p class="label">headers: ${headers.join(', ')}</p>`}
</details>`;
}

function credential({ security }: OperationObject, path: string): Html {
  if (security.length > 0) return html`API key or access token`;
  return path.startsWith('/files/') ? html`The link’s token` : html`None`;
}

export function operation(
  method: string,
  path: string,
  each: OperationObject,
  document: OpenApiDocument,
): Html {
  const [sample] = each['x-codeSamples'];
  return html`<article id="${each.operationId}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></h3>
<p class="summary">${prose(each.summary)}.</p>
${each.description === undefined ? undefined : html`<p>${prose(each.description)}</p>`}
<p><span class="label">Credential</span> ${credential(each, path)}</p>
<pre class="sample"><code>${sample?.source}</code></pre>
${parameters(each)}
${requestBody(each, document)}
<h4>Answers</h4>
${Object.entries(each.responses).map(([status, answer]) => response(status, answer, document))}
</article>`;
}
