import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import styles from './Notice.module.css';

type Kind = 'info' | 'ok' | 'warning' | 'danger';

const ICONS: Readonly<Record<Kind, IconName>> = {
  info: 'info',
  ok: 'check',
  warning: 'warning',
  danger: 'warning',
};

interface NoticeProps {
  readonly kind: Kind;
  readonly children: ReactNode;
}

/** A message in the page. One of the kind `danger` is read out at once. */
export function Notice({ kind, children }: NoticeProps) {
  return (
    <div className={styles.notice} data-kind={kind} role={kind === 'danger' ? 'alert' : undefined}>
      <Icon name={ICONS[kind]} />
      <div className={styles.text}>{children}</div>
    </div>
  );
}
