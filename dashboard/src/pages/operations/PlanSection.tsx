import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import { Button } from '../../ui/Button.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { Section } from '../../ui/Page.tsx';
import { PLAN_CHOICES, type Plan, planName } from '../../ui/plans.ts';
import { Select } from '../../ui/Select.tsx';
import { announce } from '../../ui/Toasts.tsx';
import styles from './operations.module.css';
import { type AccountDetails, forgetAccounts, operatorData } from './operator-api.ts';
import { useSending } from './useSending.ts';

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
  const { isPending, errorOf, otherError, clear, send } = useSending(['plan']);
  const change = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (plan === current) {
      announce(`The account has the plan ${planName(plan)} already.`);
      return;
    }
    void send(async () => {
      const params = { path: { id } };
      await operatorData(
        api.POST('/api/v1/operator/accounts/{id}/plan/', { params, body: { plan } }),
      );
      announce(`The account now has the plan ${planName(plan)}.`);
      await forgetAccounts();
    });
  };
  return (
    <Form className={styles.line} onSubmit={change}>
      <Select
        label="Plan"
        choices={PLAN_CHOICES}
        value={plan}
        onChange={(next) => {
          clear();
          setPlan(next);
        }}
        error={errorOf('plan')}
      />
      <Button type="submit" isPending={isPending}>
        Change the plan
      </Button>
      {otherError !== undefined && <Notice kind="danger">{otherError}</Notice>}
    </Form>
  );
}

const grants = new IdempotencyKeys();

function CreditsForm({ account: { id } }: PlanSectionProps) {
  const [amount, setAmount] = useState(Number.NaN);
  const { isPending, errorOf, otherError, clear, send } = useSending(['amount']);
  const grant = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void send(async () => {
      const header = { 'Idempotency-Key': grants.keyFor(`${id} ${amount}`) };
      const params = { path: { id }, header };
      const sent = await api.POST('/api/v1/operator/accounts/{id}/credits/', {
        params,
        body: { amount },
      });
      grants.answered(sent.response.status);
      const { credits } = await operatorData(Promise.resolve(sent));
      const isRepeated = sent.response.headers.has('Idempotent-Replayed');
      announce(
        `${formatNumber(amount)} credits ${isRepeated ? 'had been granted before' : 'are granted'}. The account now has ${formatNumber(credits)}.`,
      );
      setAmount(Number.NaN);
      await forgetAccounts();
    });
  };
  return (
    <Form className={styles.line} data-top onSubmit={grant}>
      <NumberField
        label="Credits to add"
        minValue={1}
        value={amount}
        onChange={(next) => {
          clear();
          setAmount(next);
        }}
        error={errorOf('amount')}
        isRequired
      />
      <Button type="submit" isPending={isPending}>
        Grant the credits
      </Button>
      {otherError !== undefined && <Notice kind="danger">{otherError}</Notice>}
    </Form>
  );
}
