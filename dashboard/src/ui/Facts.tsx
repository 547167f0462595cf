import type { ReactNode } from 'react';
import styles from './Facts.module.css';

interface FactsProps {
  /** Values by their names. One that is undefined is left out. */
  readonly facts: Readonly<Record<string, ReactNode>>;
  /** A long list of short values: it takes two columns if there is room. */
  readonly wide?: boolean;
}

/** Names and their values, as a list. */
export function Facts({ facts, wide = false }: FactsProps) {
  return (
    <dl className={styles.facts} data-wide={wide}>
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** The tags that a client gave, as it wrote them. */
export function Tags({ tags }: { readonly tags: Readonly<Record<string, string>> }) {
  return (
    <ul>
      {Object.entries(tags).map(([name, value]) => (
        <li key={name}>
          <span className="muted">{name}:</span> <bdi>{value}</bdi>
        </li>
      ))}
    </ul>
  );
}
