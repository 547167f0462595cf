/** The reason of what an operator does, which the account reads in its history. */
import type { ReactNode } from 'react';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import type { TextOf } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { t } from '../../words/words.ts';

interface ReasonFieldProps {
  readonly isRequired?: boolean;
  readonly hint?: string;
}

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
