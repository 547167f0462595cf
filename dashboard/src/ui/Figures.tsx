import styles from './Figures.module.css';

export interface Figure {
  readonly name: string;
  readonly value: string;
  /** A note to the value, such as the time in which it was counted. */
  readonly note?: string;
}

/** The numbers that a person looks for first. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl className={styles.figures}>
      {figures.map(({ name, value, note }) => (
        <div key={name} className={styles.figure}>
          <dt>{name}</dt>
          <dd className={styles.value}>{value}</dd>
          {note !== undefined && <dd className={styles.note}>{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
