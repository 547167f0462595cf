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

interface TagsProps {
  readonly tags: Readonly<Record<string, string>>;
  /** Makes of a tag's value what leads to all that have the tag, which is its name and value with a colon between. */
  readonly link?: (tag: string, text: ReactNode) => ReactNode;
}

/** The tags that a client gave, as it wrote them. */
export function Tags({ tags, link = (_, text) => text }: TagsProps) {
  return (
    <ul>
      {Object.entries(tags).map(([name, value]) => (
        <li key={name}>
          <span className="muted">{name}:</span> {link(`${name}:${value}`, <bdi>{value}</bdi>)}
        </li>
      ))}
    </ul>
  );
}
