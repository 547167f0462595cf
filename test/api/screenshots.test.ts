/** A conversion to a picture: its link, its type and its name follow from its format. */
import { test } from 'tap';
import { BASE } from '../support/api.ts';
import { fileUrl, startWithConversion } from '../support/conversion.ts';

const PICTURE = Buffer.from('89504e470d0a1a0a', 'hex');

void test('the file of a picture', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId, key } = api.account;
  for (const [format, type] of [
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['webp', 'image/webp'],
  ] as const) {
    const body = { html: '<p>x</p>', format };
    const create = async (more: object = {}) =>
      String(
        (await api.call('POST', `${BASE}/pdf/`, { key, body: { ...body, ...more } })).body['id'],
      );
    const id = await create();
    await api.complete(accountId, id, PICTURE);
    const record = await api.get(id);
    const url = fileUrl(record);
    t.match(url, `/files/${id}.${format}?token=`);
    const byLink = await fetch(url.replace(/^.*(?=\/files\/)/, api.origin));
    const byKey = await fetch(`${api.origin}${BASE}/conversions/${id}/file/?disposition=inline`, {
      headers: { 'X-API-Key': key },
    });
    for (const answer of [byLink, byKey]) {
      t.equal(answer.headers.get('content-type'), type);
      t.match(answer.headers.get('content-disposition'), `filename="${id}.${format}"`);
      t.strictSame(Buffer.from(await answer.arrayBuffer()), PICTURE);
    }
    const asPdf = url.replace(`.${format}?`, '.pdf?').replace(/^.*(?=\/files\/)/, api.origin);
    t.equal((await fetch(asPdf)).status, 404, 'it is not a PDF');
    const named = await create({ filename: format === 'jpeg' ? 'shot.JPG' : 'shot' });
    await api.complete(accountId, named, PICTURE);
    const name = format === 'jpeg' ? 'shot.JPG' : `shot.${format}`;
    t.equal((await api.get(named)).body['filename'], name);
    // A repeat that waits is answered by what has become of the first.
    const headers = { 'Idempotency-Key': format };
    const first = await api.call('POST', `${BASE}/pdf/`, { key, body, headers });
    await api.complete(accountId, String(first.body['id']), PICTURE);
    const answer = await fetch(`${api.origin}${BASE}/pdf/`, {
      method: 'POST',
      headers: {
        ...headers,
        'X-API-Key': key,
        'Content-Type': 'application/json',
        Prefer: 'wait=30',
        Accept: type,
      },
      body: JSON.stringify(body),
    });
    t.equal(answer.headers.get('content-type'), type, 'as the one answer');
    t.equal((await answer.arrayBuffer()).byteLength, PICTURE.length);
  }
  const pdf = await api.create();
  await api.complete(accountId, pdf, PICTURE);
  t.match(fileUrl(await api.get(pdf)), `/files/${pdf}.pdf?token=`, 'a PDF is linked as before');
});
