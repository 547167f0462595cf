import type { ReactNode } from 'react';
import styles from './Facts.module.css';

export interface Fact {
  readonly name: string;
  readonly value: ReactNode;
}

interface FactsProps {
  readonly facts: readonly Fact[];
  /** A long list of short values: it takes two columns if there is room. */
  readonly wide?: boolean;
}

/** Names and their values, as a list. A fact without a value is left out. */
export function Facts({ facts, wide = false }: FactsProps) {
  return (
    <dl className={styles.facts} data-wide={wide}>
      {facts
        .filter(({ value }) => value !== undefined)
        .map(({ name, value }) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
