import { test } from 'tap';
import { BASE, refusal, startApi } from '../support/api.ts';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';

const PATH = `${BASE}/account/signature/`;

void test('a certificate is set, shown without its key, replaced and removed', async (t) => {
  const { p12 } = makeSigner(t);
  const api = await startApi(t);
  const [account, other] = [await api.newAccount(), await api.newAccount()];
  const { key } = account;
  const body = { p12: p12.toString('base64'), password: P12_PASSWORD };
  t.match(refusal(await api.call('GET', PATH, { key })), { status: 404, error: 'not_found' });
  const set = await api.call('PUT', PATH, { key, body });
  t.equal(set.status, 200);
  t.strictSame(Object.keys(set.body), ['subject', 'issuer', 'not_after']);
  t.match(set.body, { subject: 'CN=Ada Lovelace, O=Müller GmbH, C=DE', issuer: 'CN=Test CA' });
  t.strictSame((await api.call('GET', PATH, { key })).body, set.body);
  t.equal((await api.call('GET', PATH, { key: other.key })).status, 404);

  const wrong = await api.call('PUT', PATH, { key, body: { ...body, password: 'x' } });
  t.strictSame(refusal(wrong), {
    status: 400,
    error: 'validation_error',
    details: ['password'],
  });
  const noFile = await api.call('PUT', PATH, { key, body: { ...body, p12: 'bm8=' } });
  t.match(noFile.body, { details: { p12: ['This is not a PKCS#12 file (.p12 or .pfx).'] } });
  const text = await api.call('PUT', PATH, { key, body: { ...body, p12: 'no base64' } });
  t.match(refusal(text), { details: ['p12'] });
  t.strictSame((await api.call('GET', PATH, { key })).body, set.body, 'the first is still there');

  const { body: entries } = await api.call('GET', `${BASE}/account/events/?type=SignatureSet`, {
    key,
  });
  const [entry] = entries as unknown as readonly { readonly data: object }[];
  t.match(entry, { data: { subject: 'CN=Ada Lovelace, O=Müller GmbH, C=DE' } });
  t.notOk('secret' in (entry?.data ?? {}), 'nobody reads the key in the history');
  const stored = (await api.log()).find(({ type }) => type === 'SignatureSet');
  t.notMatch(JSON.stringify(stored?.data), /Lovelace|Test CA/, 'the log has nothing readable');

  t.equal((await api.call('DELETE', PATH, { key })).status, 204);
  t.equal((await api.call('DELETE', PATH, { key })).status, 404);
  t.equal((await api.call('GET', PATH, { key })).status, 404);
});

void test('a certificate that has expired, or is not valid yet, is refused', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const body = { p12: makeSigner(t).p12.toString('base64'), password: P12_PASSWORD };
  const put = async (): Promise<unknown> => {
    const answer = await api.call('PUT', PATH, { key, body });
    return (answer.body['details'] as { readonly p12?: unknown } | undefined)?.p12;
  };
  api.clock.time = Date.now() - 86_400_000;
  t.match(await put(), [/^The certificate is not valid before \d{4}-\d\d-\d\d\. Give one/]);
  api.clock.time = Date.now() + 31 * 86_400_000;
  t.match(await put(), [/^The certificate expired on \d{4}-\d\d-\d\d\. Give one/]);
});
