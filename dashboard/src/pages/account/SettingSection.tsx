import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryClient } from '../../api/client.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { Section } from '../../ui/Page.tsx';
import { type FileOf, SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { Loaded } from '../../ui/states.tsx';
import { announce } from '../../ui/Toasts.tsx';

interface Removal {
  /** What is done, such as "Remove the name". */
  readonly action: string;
  /** The question before it. */
  readonly title: string;
  readonly effect: string;
  readonly remove: () => Promise<unknown>;
  /** Says that it was done. */
  readonly done: string;
}

interface SettingSectionProps<Value> {
  readonly title: string;
  readonly lead: string;
  /** The name of what is loaded, such as "the certificate", and under which key the answer is kept. */
  readonly what: string;
  readonly queryKey: readonly string[];
  /** Null: it is not set. */
  readonly ask: (signal: AbortSignal) => Promise<Value | null>;
  readonly show: (value: Value | null) => ReactNode;
  readonly lines: number;
  readonly removal: Removal;
  /** The text of the button that sends the form. */
  readonly action: string;
  /** @returns a text that is announced */
  readonly onSend: (textOf: TextOf, fileOf: FileOf) => Promise<string>;
  /** The fields of the form. */
  readonly children: ReactNode;
}

/** What an account may set, replace and remove. */
export function SettingSection<Value>(props: SettingSectionProps<Value>) {
  const { title, lead, what, queryKey, ask, show, lines, removal, action, onSend, children } =
    props;
  const current = useQuery({ queryKey, queryFn: ({ signal }) => ask(signal) });
  const refresh = () => queryClient.invalidateQueries({ queryKey });
  const remove = async () => {
    await removal.remove();
    announce(removal.done);
  };
  const set = async (textOf: TextOf, fileOf: FileOf) => {
    const done = await onSend(textOf, fileOf);
    await refresh();
    return done;
  };
  return (
    <Section
      title={title}
      lead={lead}
      actions={
        current.data !== undefined &&
        current.data !== null && (
          <ConfirmButton
            small
            text={removal.action}
            title={removal.title}
            action={removal.action}
            onConfirm={remove}
            onClosed={() => void refresh()}
          >
            <p>{removal.effect}</p>
          </ConfirmButton>
        )
      }
    >
      <Loaded query={current} what={what} lines={lines}>
        {show}
      </Loaded>
      <SendForm action={action} look="secondary" layout="narrow" onSend={set}>
        {children}
      </SendForm>
    </Section>
  );
}
