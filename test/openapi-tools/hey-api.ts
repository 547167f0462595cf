/** Uses the client that @hey-api/openapi-ts generates with its default settings. */
import {
  createConversion,
  downloadFile,
  getAccount,
  getConversion,
  listApiKeys,
  listConversions,
  listLedgerEntries,
} from './generated/hey-api';
import { client } from './generated/hey-api/client.gen';

async function main([baseUrl = '', key = '']: readonly string[]): Promise<object> {
  client.setConfig({ baseUrl, auth: key });
  const { data: created } = await createConversion({
    body: { html: '<h1>hey-api</h1>', page_size: 'A5', media: 'screen' },
  });
  const id = created?.id ?? '';
  const { data: record } = await getConversion({ path: { id }, headers: { Prefer: 'wait=30' } });
  const token = new URL(record?.file_url ?? '').searchParams.get('token') ?? '';
  const { data: file } = await downloadFile({ path: { id, format: 'pdf' }, query: { token } });
  const text =
    file instanceof Blob ? Buffer.from(await file.arrayBuffer()).toString('latin1', 0, 5) : '';
  const { data: conversions } = await listConversions({
    query: { status: 'completed', page_size: 100 },
  });
  const { data: keys } = await listApiKeys();
  const { data: account } = await getAccount();
  const { data: ledger } = await listLedgerEntries();
  const { error } = await getConversion({ path: { id: 'conv_x' } });
  return {
    status: record?.status,
    pdf: text,
    listed: conversions?.some((each) => each.id === id),
    keys: keys?.length,
    plan: account?.plan,
    entry: ledger?.[0]?.type,
    error: error?.error,
  };
}

void main(process.argv.slice(2)).then((told) => console.log(JSON.stringify(told)));
