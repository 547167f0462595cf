/** Requests that have the API give each answer about accounts that are opened by links. */
import { type Api, BASE, PASSWORD } from './api.ts';
import { newOperator } from './operator.ts';

export async function driveSignUp(api: Api): Promise<void> {
  const at = `${BASE}/sign-up/`;
  for (const email of ['dora@example.com', 'dora']) {
    await api.call('POST', at, { body: { email } });
  }
  const operator = await newOperator(api);
  await operator.call('POST', '/sign-ups/', { body: { email: 'dora' } });
  const made = await operator.call('POST', '/sign-ups/', { body: { email: 'dora@example.com' } });
  await operator.call('GET', '/sign-ups/');
  await operator.call('GET', '/sign-ups/?page=0');
  const other = await operator.call('POST', '/sign-ups/', { body: { email: 'eve@example.com' } });
  for (let times = 0; times < 2; times += 1) {
    await operator.call('DELETE', `/sign-ups/${String(other.body['id'])}/`);
  }
  const [, token = ''] = String(made.body['link']).split('#');
  await api.call('GET', `${at}${token}/`);
  for (const password of ['too short', PASSWORD, PASSWORD]) {
    await api.call('POST', `${at}${token}/accept/`, { body: { password } });
  }
  await api.call('GET', `${at}${token}/`);
}
