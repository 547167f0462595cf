import { Icon, type IconName } from './icons.tsx';
import styles from './StatusBadge.module.css';

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

export const STATUS_TEXTS = {
  pending: { tone: 'neutral', icon: 'clock', text: 'Pending' },
  processing: { tone: 'accent', icon: 'progress', text: 'Processing' },
  completed: { tone: 'ok', icon: 'check', text: 'Completed' },
  failed: { tone: 'danger', icon: 'cross', text: 'Failed' },
} as const;

/** The status of a conversion. */
export function StatusBadge({ status }: { readonly status: keyof typeof STATUS_TEXTS }) {
  const { tone, icon, text } = STATUS_TEXTS[status];
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  );
}
