/** Uses the types of openapi-typescript, with its default settings, through openapi-fetch. */
import createClient from 'openapi-fetch';
import type { paths } from './generated/schema';

async function main([baseUrl = '', key = '']: readonly string[]): Promise<object> {
  const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });
  const { data: created } = await client.POST('/api/v1/pdf/', {
    body: { html: '<h1>openapi-fetch</h1>', page_size: 'A5', media: 'screen', page_ranges: null },
  });
  const id = created?.id ?? '';
  const { data: record } = await client.GET('/api/v1/conversions/{id}/', {
    params: { path: { id }, header: { Prefer: 'wait=30' } },
  });
  const token = new URL(record?.file_url ?? '').searchParams.get('token') ?? '';
  const { data: file } = await client.GET('/files/{id}.{format}', {
    params: { path: { id, format: 'pdf' }, query: { token } },
    parseAs: 'arrayBuffer',
  });
  const { data: conversions } = await client.GET('/api/v1/conversions/', {
    params: { query: { status: 'completed', page_size: 100 } },
  });
  const { data: keys } = await client.GET('/api/v1/api-keys/');
  const { data: account } = await client.GET('/api/v1/account/');
  const { data: ledger } = await client.GET('/api/v1/account/ledger/');
  const { error } = await client.GET('/api/v1/conversions/{id}/', {
    params: { path: { id: 'conv_x' } },
  });
  return {
    status: record?.status,
    pdf: Buffer.from(file ?? new ArrayBuffer(0)).toString('latin1', 0, 5),
    listed: conversions?.some((each) => each.id === id),
    keys: keys?.length,
    plan: account?.plan,
    entry: ledger?.[0]?.type,
    error: error?.error,
  };
}

void main(process.argv.slice(2)).then((told) => console.log(JSON.stringify(told)));
