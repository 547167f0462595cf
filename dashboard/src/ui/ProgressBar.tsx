import { ProgressBar as AriaProgressBar, Label } from 'react-aria-components';
import styles from './ProgressBar.module.css';

interface ProgressBarProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** The text beside it, such as "1,200 of 3,400 events". Default: per cent. */
  readonly text?: string;
}

export function ProgressBar({ label, value, max, text }: ProgressBarProps) {
  return (
    <AriaProgressBar value={value} maxValue={max} valueLabel={text} className="line apart">
      {({ percentage = 0, valueText }) => (
        <>
          <Label className={styles.label}>{label}</Label>
          <span className="note">{valueText}</span>
          <span className={styles.track}>
            <span className={styles.fill} style={{ width: `${percentage}%` }} />
          </span>
        </>
      )}
    </AriaProgressBar>
  );
}
