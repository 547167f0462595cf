import { useId } from 'react';
import styles from './Playground.module.css';
import type { Field } from './request-schema.ts';

interface FramedProps {
  readonly field: Pick<Field, 'label' | 'description'>;
  readonly error?: string | undefined;
  readonly children: React.ReactNode;
}

/** Fields under a heading of their own. */
export function Framed({ field, error, children }: FramedProps) {
  const id = useId();
  return (
    <fieldset className={styles.framed} aria-describedby={id}>
      <legend className={styles.legend}>{field.label}</legend>
      <div id={id} className={styles.notes}>
        {field.description !== undefined && <p className="note">{field.description}</p>}
        {error !== undefined && <p className={styles.error}>{error}</p>}
      </div>
      {children}
    </fieldset>
  );
}
