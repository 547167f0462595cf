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
  const [, token = ''] = String(made.body['link']).split('#');
  await api.call('GET', `${at}${token}/`);
  for (const password of ['too short', PASSWORD, PASSWORD]) {
    await api.call('POST', `${at}${token}/accept/`, { body: { password } });
  }
  await api.call('GET', `${at}${token}/`);
}
