/** Fields of the forms of operators: the reason, which the account reads in its history, and the plan. */
import type { ReactNode } from 'react';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { TextField, type TextOf } from '../../ui/forms.tsx';
import { t } from '../../words/words.ts';
import { useQuery } from '@tanstack/react-query';
import { answerQuery } from '../../api/client.ts';
import { counted, planName } from '../../ui/format.ts';
import { Select } from '../../ui/choices.tsx';

type ReasonFieldProps = { readonly isRequired?: boolean; readonly hint?: string };

export function ReasonField(props: ReasonFieldProps) {
  const { isRequired = false, hint = t('The account reads it in its history.') } = props;
  return (
    <TextField
      label={isRequired ? t('Reason') : t('Reason (optional)')}
      name="reason"
      maxLength={500}
      autoComplete="off"
      hint={hint}
      isRequired={isRequired}
    />
  );
}

/** The reason as the service takes it. */
export function reasonIn(textOf: TextOf): { readonly reason?: string } {
  const reason = textOf('reason').trim();
  return reason === '' ? {} : { reason };
}

interface ReasonDialogProps extends ReasonFieldProps {
  readonly text: string;
  readonly title: string;
  readonly action: string;
  readonly look?: 'primary' | 'danger';
  readonly onSend: (textOf: TextOf) => Promise<unknown>;
  /** Further ones. */
  readonly fields?: ReactNode;
  readonly children: ReactNode;
}

/** A button that asks for the reason, and what else it needs, before it acts. */
export function ReasonDialog(props: ReasonDialogProps) {
  const { text, title, action, look = 'danger', onSend, children, fields, ...field } = props;
  return (
    <ConfirmButton text={text} title={title} action={action} actionLook={look} onConfirm={onSend}>
      {children}
      <ReasonField {...field} />
      {fields}
    </ConfirmButton>
  );
}

type PlanSelectProps = { readonly value: string; readonly onChange: (plan: string) => void };

/** Chooses one of the plans that the settings of the service have, each with its limits. */
export function PlanSelect({ value, onChange }: PlanSelectProps) {
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
