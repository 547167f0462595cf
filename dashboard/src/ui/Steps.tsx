import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import styles from './Steps.module.css';

/** The looks of a step, each with its mark. */
const ICONS = {
  waiting: 'minus',
  next: 'chevronRight',
  running: 'progress',
  holds: 'check',
  noted: 'info',
  fails: 'cross',
} as const satisfies Record<string, IconName>;

interface StepProps {
  readonly look: keyof typeof ICONS;
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
  return (
    <li className={styles.step} data-look={look}>
      <span className={styles.mark}>
        <Icon name={ICONS[look]} size={16} />
      </span>
      <div className={styles.body}>
        <h3 className={styles.title}>
          {title} <span className={styles.word}>{word}</span>
        </h3>
        {children}
      </div>
    </li>
  );
}
