/** Things that are done one after the other, each with what came of it. */
import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './Steps.module.css';

/** The looks of a step, each with its mark. */
const LOOKS = {
  waiting: { icon: 'minus', tone: undefined },
  /** Its number stands there. */
  next: { icon: undefined, tone: 'accent' },
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
  return <ol className={`${styles.steps} stack gap-5`}>{children}</ol>;
}

export function Step({ look, title, word, children }: StepProps) {
  const { icon, tone } = LOOKS[look];
  return (
    <li className={`${styles.step} beside top`} data-look={look} data-tone={tone}>
      <span className={`${styles.mark} disc`}>{icon && <Icon name={icon} size={16} />}</span>
      <div className={`${styles.body} stack gap-2 anywhere`}>
        <h3 className="line">
          {title} <span className={styles.word}>{word}</span>
        </h3>
        {children}
      </div>
    </li>
  );
}
