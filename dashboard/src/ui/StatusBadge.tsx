import { Icon, type IconName } from './icons.tsx';
import styles from './StatusBadge.module.css';
import { t } from '../words/words.ts';

type Tone = 'neutral' | 'accent' | 'ok' | 'warning' | 'danger';

interface BadgeProps {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly children: string;
}

/** A state in one or two words, never by its colour alone. */
export function Badge({ tone, icon, children }: BadgeProps) {
  return (
    <span className={styles.badge} data-tone={tone}>
      <Icon name={icon} size={14} />
      {children}
    </span>
  );
}

/** What a test key made. */
export const TestBadge = () => (
  <Badge tone="warning" icon="info">
    {t('Test')}
  </Badge>
);

export const STATUS_TEXTS = {
  pending: { tone: 'neutral', icon: 'clock', text: t('Pending') },
  processing: { tone: 'accent', icon: 'progress', text: t('Processing') },
  completed: { tone: 'ok', icon: 'check', text: t('Completed') },
  failed: { tone: 'danger', icon: 'cross', text: t('Failed') },
} as const;

/** It has failed for programs. For people it is as it should be. */
const CANCELLED = { tone: 'neutral', icon: 'cross', text: t('Cancelled') } as const;

interface StatusBadgeProps {
  readonly status: keyof typeof STATUS_TEXTS;
  /** The code of the failure, if it has failed. */
  readonly failure?: string | undefined;
}

/** The status of a conversion. */
export function StatusBadge({ status, failure }: StatusBadgeProps) {
  const { tone, icon, text } = failure === 'cancelled' ? CANCELLED : STATUS_TEXTS[status];
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  );
}
