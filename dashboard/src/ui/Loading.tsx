import styles from './states.module.css';

interface LoadingProps {
  /** The name of what is loading, for screen readers, such as "Loading the keys". */
  readonly label: string;
  /** About as many lines as the content will have. */
  readonly lines?: number;
}

/** Grey lines where the content will be, so that nothing jumps when it comes. */
export function Loading({ label, lines = 4 }: LoadingProps) {
  return (
    <div className={styles.loading} role="status">
      <span className={styles.visuallyHidden}>{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  );
}
