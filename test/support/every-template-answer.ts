/** Requests that have the API give each success of its template routes. */
import { type Api, BASE } from './api.ts';

const NOBODYS = 'tmpl_00000000000000000000000000';

export async function driveTemplates(api: Api, key: string): Promise<void> {
  const call = async (method: string, path: string, body?: object) =>
    await api.call(method, `${BASE}/templates/${path}`, { key, ...(body && { body }) });
  const content = {
    html: '<h1>Invoice {{ number }}</h1>',
    header_html: '<p>{{ number }}</p>',
    footer_html: '<p>{{ number }}</p>',
    files: { 'style.css': 'cHtjb2xvcjpyZWR9' },
    options: { page_size: 'A5' },
    schema: { type: 'object', required: ['number'], properties: { number: { type: 'string' } } },
    sample: { number: '4711', total: 12 },
  };
  const { body } = await call('POST', '', { name: 'Invoice', ...content });
  const id = String(body['id']);
  await call('POST', '', { name: 'Invoice', html: '{{ x | mony }}' });
  await call('POST', `${id}/versions/`, { ...content, html: '<p>{{ number }}</p>' });
  await call('POST', `${id}/versions/`, { html: '{{ x | mony }}' });
  await call('PATCH', `${id}/`, { name: 'Letter' });
  const large = { html: 'x'.repeat(300_000) };
  await call('POST', '', { name: 'x', ...large });
  await call('POST', `${id}/versions/`, large);
  for (const path of ['', `${id}/`, `${id}/versions/`, `${id}/versions/1/`])
    await call('GET', path);
  const { files: _files, options: _options, ...plain } = content;
  await call('POST', `${id}/versions/`, plain);
  await call('GET', `${id}/versions/3/`);
  await call('GET', `${NOBODYS}/versions/`);
  await call('POST', 'preview/', { html: content.html, header_html: 'x', footer_html: 'y' });
  await call('POST', 'preview/', { html: '{{ x | mony }}' });
  await call('POST', `${id}/preview/`, {});
  await call('POST', `${id}/preview/`, { data: { number: 1 } });
  const asked = { key, body: { template: id, data: content.sample } };
  const { body: made } = await api.call('POST', `${BASE}/pdf/`, asked);
  await api.call('GET', `${BASE}/conversions/${String(made['id'])}/`, { key });
  await call('DELETE', `${id}/`);
}
