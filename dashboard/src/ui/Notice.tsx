import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError, errorText } from '../api/error.ts';
import { Icon } from './icons.tsx';
import styles from './Notice.module.css';
import { t } from '../words/words.ts';

const KINDS = {
  info: { icon: 'info', tone: 'accent' },
  ok: { icon: 'check', tone: 'ok' },
  warning: { icon: 'warning', tone: 'warning' },
  danger: { icon: 'warning', tone: 'danger' },
} as const;

interface NoticeProps {
  readonly kind: keyof typeof KINDS;
  readonly children: ReactNode;
}

/** A message in the page. One of the kind `danger` is read out at once. */
export function Notice({ kind, children }: NoticeProps) {
  const { icon, tone } = KINDS[kind];
  return (
    <div className={styles.notice} data-tone={tone} role={kind === 'danger' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div className={styles.text}>{children}</div>
    </div>
  );
}

/** Says why something was not done. */
export function FailureNotice({ error }: { readonly error: unknown }) {
  return (
    <Notice kind="danger">
      {errorText(error)}{' '}
      {error instanceof ApiError && error.code === 'insufficient_credits' && (
        <Link to="/usage">{t('See the credits')}</Link>
      )}
    </Notice>
  );
}
