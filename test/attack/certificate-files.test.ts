/** Certificate files with as many rounds as are allowed: a few are worked on at a time, and nobody else waits for them. */
import { test } from 'tap';
import { BASE, startApi } from '../support/api.ts';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';

const PATH = `${BASE}/account/signature/`;
const PBE = 'PBE-SHA1-3DES';
const SLOW = ['-keypbe', PBE, '-certpbe', PBE, '-iter', '55000', '-maciter', '-macalg', 'sha1'];

void test('of 30 slow files of an account at once, one is opened', async (t) => {
  const { p12: slow } = makeSigner(t, { export: SLOW });
  const { p12: usual } = makeSigner(t);
  const api = await startApi(t, { env: { RATE_LIMIT: 'off' } });
  const [mallory, ada] = [await api.newAccount(), await api.newAccount()];
  const put = (key: string, p12: Buffer) =>
    api.call('PUT', PATH, { key, body: { p12: p12.toString('base64'), password: P12_PASSWORD } });
  let ended = 0;
  const asked = Array.from({ length: 30 }, async () => {
    const answer = await put(mallory.key, slow);
    ended += answer.status === 200 ? 1 : 0;
    return answer;
  });
  const other = await put(ada.key, usual);
  t.equal(other.status, 200);
  t.equal(ended, 0, 'another account did not wait for it');
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status === 429);
  t.equal(refused.length, 29);
  t.match(refused[0]?.body, {
    error: 'rate_limit_exceeded',
    message: /^Another file of the account/,
  });
  t.ok(Number(refused[0]?.headers.get('retry-after')) > 0);
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  t.equal((await put(mallory.key, usual)).status, 200, 'the next one afterwards');
});
