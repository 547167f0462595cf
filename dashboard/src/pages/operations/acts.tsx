/** The parts of an account's page for operators, as data: what a part says, and the acts that it offers. */
import { type ReactNode, useRef } from 'react';
import type { ButtonProps } from '../../ui/Button.tsx';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { OwnProof, SendForm, TextField, type TextOf } from '../../ui/forms.tsx';
import { Section } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';
import styles from './operations.module.css';
import { forgetAccounts, useOnEnd } from './operator-api.ts';

/** The reason, if one is given: the account reads it in its history. */
export type Reason = { readonly reason?: string };

export interface Act extends Pick<ButtonProps, 'look' | 'icon' | 'isDisabled'> {
  /** The question of its dialog. Without one, its form stands in the part. */
  readonly title?: string;
  /** The text of the button that opens the dialog, if it is another than `action`. */
  readonly text?: string;
  /** Says what follows from it. */
  readonly effect?: ReactNode;
  readonly fields?: ReactNode;
  readonly asksReason?: 'optional' | 'required' | 'never';
  readonly reasonHint?: string;
  /** Asks the operator for the own password, too: see `proofIn`. */
  readonly needsProof?: boolean;
  /** The text of the button that does it. It is red, unless `isMild`. */
  readonly action: string;
  readonly isMild?: boolean;
  /** Does it; then the account is asked for again. A text that it resolves to is announced. */
  readonly send: (textOf: TextOf, reason: Reason) => Promise<unknown>;
}

export interface Part {
  readonly title: string;
  readonly lead?: string;
  readonly state?: ReactNode;
  /** An act of it ends something: when that is over, the state takes the focus of the button, which goes. */
  readonly holds?: boolean;
  readonly acts: readonly Act[];
}

function reasonIn(textOf: TextOf): Reason {
  const reason = textOf('reason').trim();
  return reason === '' ? {} : { reason };
}

function ActFields({ effect, fields, asksReason = 'optional', reasonHint, needsProof }: Act) {
  const isRequired = asksReason === 'required';
  return (
    <>
      {effect}
      {fields}
      {asksReason !== 'never' && (
        <TextField
          label={isRequired ? t('Reason') : t('Reason (optional)')}
          name="reason"
          maxLength={500}
          autoComplete="off"
          hint={reasonHint ?? t('The account reads it in its history.')}
          isRequired={isRequired}
        />
      )}
      {needsProof === true && <OwnProof />}
    </>
  );
}

function ActForm(act: Act) {
  const { title, action, text = action, isMild = false, send, look, icon, isDisabled } = act;
  if (title === undefined) {
    const sendHere = async (textOf: TextOf) => {
      const done = await send(textOf, reasonIn(textOf));
      await forgetAccounts();
      return done;
    };
    return (
      <SendForm action={action} look="secondary" layout="narrow" onSend={sendHere}>
        <ActFields {...act} />
      </SendForm>
    );
  }
  const sendFromDialog = async (textOf: TextOf) => {
    const done = await send(textOf, reasonIn(textOf));
    // Not awaited: the dialog gives the focus back to its button, which may then go.
    void forgetAccounts();
    return done;
  };
  return (
    <ConfirmButton
      {...{ text, title, action, look, icon, isDisabled }}
      actionLook={isMild ? 'primary' : 'danger'}
      onConfirm={sendFromDialog}
    >
      <ActFields {...act} />
    </ConfirmButton>
  );
}

const isInDialog = ({ title }: Act): boolean => title !== undefined;
const show = (act: Act) => <ActForm key={act.action} {...act} />;

/** A part of the page: its state, the buttons of its acts, and the forms that stand in it. */
export function PartSection({ title, lead, state, holds = false, acts }: Part) {
  const text = useRef<HTMLDivElement>(null);
  useOnEnd(holds, () => text.current?.focus());
  return (
    <Section title={title} lead={lead} actions={acts.filter(isInDialog).map(show)}>
      {state !== undefined && (
        <div ref={text} tabIndex={-1} className={`stack ${styles.focused}`}>
          {state}
        </div>
      )}
      {acts.filter((act) => !isInDialog(act)).map(show)}
    </Section>
  );
}
