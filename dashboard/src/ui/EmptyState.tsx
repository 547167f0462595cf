import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import styles from './states.module.css';

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  /** The things that would be here, and how they come about. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <span className={styles.icon}>
        <Icon name={icon} size={28} />
      </span>
      <p className={styles.title}>{title}</p>
      <p className={styles.text}>{children}</p>
      {action}
    </div>
  );
}
