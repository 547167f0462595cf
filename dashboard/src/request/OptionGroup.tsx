import { useEffect, useState } from 'react';
import { Button, Disclosure, DisclosurePanel, Heading } from 'react-aria-components';
import { Icon } from '../ui/icons.tsx';
import { errorWithin, type FieldErrors } from './Framed.tsx';
import { OptionFields } from './OptionField.tsx';
import styles from './request.module.css';
import type { Field } from './schema.ts';
import { changedCount, type Values, valuesOf } from './values.ts';
import { rich } from '../words/rich.ts';

interface OptionGroupProps {
  readonly title: string;
  readonly fields: readonly Field[];
  /** The part of the paths before the names of the fields. */
  readonly prefix?: string;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors: FieldErrors;
}

/** Fields that are folded until a person opens them, or one of them is wrong. */
export function OptionGroup(props: OptionGroupProps) {
  const { title, fields, prefix = '', values, onChange, errors } = props;
  const [isOpen, setOpen] = useState(false);
  const isWrong = fields.some(({ name }) => errorWithin(errors, prefix + name) !== undefined);
  useEffect(() => {
    if (isWrong) setOpen(true);
  }, [isWrong, errors]);
  const changed = changedCount(fields, values);
  return (
    <Disclosure isExpanded={isOpen} onExpandedChange={setOpen} className={styles.group}>
      <Heading level={3} className={styles.groupHeading}>
        <Button slot="trigger" className={styles.groupButton}>
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={16} />
          {title}
          {changed > 0 && (
            <span className={styles.changed}>{rich('{changed} set', { changed })}</span>
          )}
        </Button>
      </Heading>
      <DisclosurePanel className={styles.groupPanel}>
        {isOpen && (
          <OptionFields
            fields={fields}
            prefix={prefix}
            value={values}
            onChange={(next) => onChange(valuesOf(next))}
            errors={errors}
          />
        )}
      </DisclosurePanel>
    </Disclosure>
  );
}
