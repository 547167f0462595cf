import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import { formatNumber } from '../../ui/format.ts';
import { NumberField } from '../../ui/NumberField.tsx';
import { Section } from '../../ui/Page.tsx';
import { PLAN_CHOICES, type Plan, planName } from '../../ui/plans.ts';
import { Select } from '../../ui/Select.tsx';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { type AccountDetails, forgetAccounts } from './operator-api.ts';

interface PlanSectionProps {
  readonly account: AccountDetails;
}

export function PlanSection({ account }: PlanSectionProps) {
  return (
    <Section
      title="Plan and credits"
      lead="Both take effect at once. The account sees them in its history."
    >
      <PlanForm account={account} />
      <CreditsForm account={account} />
    </Section>
  );
}

function PlanForm({ account: { id, plan: current } }: PlanSectionProps) {
  const [plan, setPlan] = useState<Plan>(current);
  const change = async () => {
    if (plan === current) return `The account has the plan ${planName(plan)} already.`;
    const params = { path: { id } };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/plan/', { params, body: { plan } }));
    await forgetAccounts();
    return `The account now has the plan ${planName(plan)}.`;
  };
  return (
    <SendForm action="Change the plan" look="secondary" layout="line" keeps onSend={change}>
      <Select label="Plan" name="plan" choices={PLAN_CHOICES} value={plan} onChange={setPlan} />
    </SendForm>
  );
}

const grants = new IdempotencyKeys();

function CreditsForm({ account: { id } }: PlanSectionProps) {
  const grant = async (textOf: TextOf) => {
    const amount = Number(textOf('amount'));
    const header = { 'Idempotency-Key': grants.keyFor(`${id} ${amount}`) };
    const sent = await api.POST('/api/v1/operator/accounts/{id}/credits/', {
      params: { path: { id }, header },
      body: { amount },
    });
    grants.answered(sent.response.status);
    const { credits } = await dataOf(Promise.resolve(sent));
    const isRepeated = sent.response.headers.has('Idempotent-Replayed');
    await forgetAccounts();
    return `${formatNumber(amount)} credits ${isRepeated ? 'had been granted before' : 'are granted'}. The account now has ${formatNumber(credits)}.`;
  };
  return (
    <SendForm action="Grant the credits" look="secondary" layout="line" onSend={grant}>
      <NumberField label="Credits to add" name="amount" minValue={1} isRequired />
    </SendForm>
  );
}
