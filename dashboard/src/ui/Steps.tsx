import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './Steps.module.css';

/** The looks of a step, each with its mark. */
const LOOKS = {
  waiting: { icon: 'minus', tone: undefined },
  /** Its number stands there. */
  next: { icon: undefined, tone: undefined },
  running: { icon: 'progress', tone: 'accent' },
  holds: { icon: 'check', tone: 'ok' },
  noted: { icon: 'info', tone: 'accent' },
  fails: { icon: 'cross', tone: 'danger' },
} as const;

interface StepProps {
  readonly look: keyof typeof LOOKS;
  readonly title: string;
  /** Says the state in words, never by its colour alone. */
  readonly word: string;
  readonly children?: ReactNode;
}

/** A list of things that are done one after the other. */
export function Steps({ children }: { readonly children: ReactNode }) {
  return <ol className={styles.steps}>{children}</ol>;
}

export function Step({ look, title, word, children }: StepProps) {
  const { icon, tone } = LOOKS[look];
  return (
    <li className={styles.step} data-look={look} data-tone={tone}>
      <span className={styles.mark}>{icon && <Icon name={icon} size={16} />}</span>
      <div className={styles.body}>
        <h3 className={styles.title}>
          {title} <span className={styles.word}>{word}</span>
        </h3>
        {children}
      </div>
    </li>
  );
}
