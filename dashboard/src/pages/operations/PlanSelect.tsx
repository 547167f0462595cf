import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerQuery } from '../../api/client.ts';
import { Select } from '../../ui/choices.tsx';
import { counted, planName } from '../../ui/format.ts';
import { t } from '../../words/words.ts';

/** Chooses one of the plans that the settings of the service have, each with its limits. @param plan the one at first */
export function PlanSelect({ plan }: { readonly plan: string }) {
  const [value, onChange] = useState(plan);
  const status = useQuery(
    answerQuery(['operator', 'plans'], '/api/v1/operator/status/', {}, { staleTime: 60_000 }),
  );
  const plans = status.data?.plans ?? [];
  const chosen = plans.find(({ name }) => name === value);
  const monthly = chosen?.credits_monthly ?? null;
  // A plan that the settings do not have any more is still that of the account.
  const names = [...new Set([...plans.map(({ name }) => name), value])];
  return (
    <Select
      label={t('Plan')}
      name="plan"
      choices={names.map((name) => ({ value: name, label: planName(name) }))}
      value={value}
      onChange={onChange}
      hint={
        chosen &&
        t('{rate_limit} a minute{value}.', {
          rate_limit: counted(chosen.rate_limit, 'request'),
          value:
            monthly === null
              ? ''
              : t(', {monthly} each month', { monthly: counted(monthly, 'credit') }),
        })
      }
    />
  );
}
