/** Parts of a page as data: what a part says, and the acts that it offers, each by a form. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { t } from '../words/words.ts';
import type { ButtonProps } from './Button.tsx';
import { ConfirmButton } from './Dialog.tsx';
import { type FileOf, OwnProof, SendForm, TextField, type TextOf } from './forms.tsx';
import { Section } from './Page.tsx';

/** The reason, if one is given: the account reads it in its history. */
export type Reason = { readonly reason?: string };

export interface Act
  extends Pick<ButtonProps, 'look' | 'icon' | 'isDisabled' | 'small' | 'aria-label'> {
  /** The question of its dialog. Without one, its form stands in the part. */
  readonly title?: string;
  /** The text of the button that opens the dialog, if it is another than `action`. */
  readonly text?: string;
  /** Says what follows from it. */
  readonly effect?: ReactNode;
  readonly fields?: ReactNode;
  /** Of acts of operators alone. */
  readonly asksReason?: 'optional' | 'required';
  readonly reasonHint?: string;
  /** Asks an operator for the own password, too: see `proofIn`. */
  readonly needsProof?: boolean;
  /** The text of the button that does it. It is red, unless `isMild`. */
  readonly action: string;
  readonly isMild?: boolean;
  /** Does it. A text that it resolves to is announced. */
  readonly send: (textOf: TextOf, reason: Reason, fileOf: FileOf) => Promise<unknown>;
}

export interface Part {
  readonly title: string;
  readonly lead?: string;
  readonly state?: ReactNode;
  /** An act of it ends something: when that is over, the state takes the focus of the button, which goes. */
  readonly holds?: boolean;
  readonly acts: readonly Act[];
}

interface After {
  /** Asks again for what may have changed. */
  readonly after: () => Promise<unknown>;
}

function reasonIn(textOf: TextOf): Reason {
  const reason = textOf('reason').trim();
  return reason === '' ? {} : { reason };
}

function ActFields({ effect, fields, asksReason, reasonHint, needsProof }: Act) {
  const isRequired = asksReason === 'required';
  return (
    <>
      {effect}
      {fields}
      {asksReason !== undefined && (
        <TextField
          label={isRequired ? t('Reason') : t('Reason (optional)')}
          name="reason"
          autoComplete="off"
          hint={reasonHint ?? t('The account reads it in its history.')}
          isRequired={isRequired}
        />
      )}
      {needsProof === true && <OwnProof />}
    </>
  );
}

/** The button of an act that asks in a dialog, or its form. */
export function ActForm({ after, ...act }: Act & After) {
  const { title, action, text = action, isMild = false, send, ...button } = act;
  const { look, icon, isDisabled, small, 'aria-label': label } = button;
  const onSend = (textOf: TextOf, fileOf: FileOf) => send(textOf, reasonIn(textOf), fileOf);
  if (title === undefined) {
    const sendHere = async (textOf: TextOf, fileOf: FileOf) => {
      const done = await onSend(textOf, fileOf);
      await after();
      return done;
    };
    return (
      <SendForm action={action} look="secondary" layout="narrow" onSend={sendHere}>
        <ActFields {...act} />
      </SendForm>
    );
  }
  return (
    <ConfirmButton
      {...{ text, title, action, look, icon, isDisabled, small, 'aria-label': label }}
      actionLook={isMild ? 'primary' : 'danger'}
      onConfirm={onSend}
      // Also after a refusal, which may say that what is shown is out of date.
      onClosed={() => void after()}
    >
      <ActFields {...act} />
    </ConfirmButton>
  );
}

/** Calls back when a condition that held before holds no more. */
export function useOnEnd(holds: boolean, onEnd: () => void): void {
  const [held, setHeld] = useState(holds);
  useEffect(() => {
    if (held === holds) return;
    setHeld(holds);
    if (held) onEnd();
  });
}

const isInDialog = ({ title }: Act): boolean => title !== undefined;

/** A part of a page: its state, the buttons of its acts, and the forms that stand in it. */
export function PartSection({ title, lead, state, holds = false, acts, after }: Part & After) {
  const text = useRef<HTMLDivElement>(null);
  useOnEnd(holds, () => text.current?.focus());
  // By its place: an act whose words follow the state keeps its form, and with it the focus.
  const show = (act: Act, at: number) => <ActForm key={at} {...act} after={after} />;
  return (
    <Section title={title} lead={lead} actions={acts.filter(isInDialog).map(show)}>
      {state !== undefined && (
        <div ref={text} tabIndex={-1} className="stack">
          {state}
        </div>
      )}
      {acts.filter((act) => !isInDialog(act)).map(show)}
    </Section>
  );
}
