import styles from './Code.module.css';
import { CopyButton } from './CopyButton.tsx';

interface CodeProps {
  readonly code: string;
  /** The text of the button, such as "Copy the command". */
  readonly copyLabel: string;
  /** Breaks lines that are too long, for keys and hashes. */
  readonly wrap?: boolean;
}

/** A text to read sign by sign or to copy. */
export function Code({ code, copyLabel, wrap = false }: CodeProps) {
  return (
    <figure className={styles.figure} data-wrap={wrap}>
      {/* Long lines are scrolled, also by the keyboard. */}
      <pre className={styles.code} data-wrap={wrap} tabIndex={wrap ? undefined : 0}>
        <code>{code}</code>
      </pre>
      <div className={styles.copy}>
        <CopyButton text={code} label={copyLabel} />
      </div>
    </figure>
  );
}
