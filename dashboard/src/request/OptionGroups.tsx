import { useEffect, useState } from 'react';
import { Button as AriaButton, Disclosure, DisclosurePanel, Heading } from 'react-aria-components';
import { Icon } from '../ui/icons.tsx';
import { errorWithin, type FieldErrors } from './Framed.tsx';
import { OptionFields } from './OptionField.tsx';
import styles from './request.module.css';
import type { Field } from './schema.ts';
import { changedCount, type Values, valuesOf } from './values.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

/** An option; or a field of an option such as `pdf`, whose fields stand with the options. */
interface Placed {
  readonly field: Field;
  /** The name of the option that has it; empty: it is an option itself. */
  readonly within: string;
}

const placedIn = (options: readonly Field[]): readonly Placed[] =>
  options.flatMap((option): Placed | readonly Placed[] => {
    const { name: within, kind, group, fields } = option;
    const isOpen = kind === 'group' && group === undefined;
    return isOpen ? fields.map((field) => ({ field, within })) : { field: option, within: '' };
  });

const titleOf = ({ field: { group }, within }: Placed): string =>
  group ?? (within === '' ? t('More') : t('More of the PDF'));

/** Those without a group come last, so that a new option is there at once. */
const isNew = ({ field }: Placed): number => Number(field.group === undefined);

const grouped = (options: readonly Field[]) => [
  ...Map.groupBy(
    placedIn(options).toSorted((a, b) => isNew(a) - isNew(b)),
    titleOf,
  ),
];

interface OptionGroupsProps {
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors: FieldErrors;
}

/** All fields of a request that its schema has, by groups. */
export function OptionGroups({
  fields,
  ...props
}: OptionGroupsProps & { readonly fields: readonly Field[] }) {
  return (
    <div>
      {grouped(fields).map(([title, placed]) => (
        <OptionGroup key={title} {...props} title={title} placed={placed} />
      ))}
    </div>
  );
}

interface OptionGroupProps extends OptionGroupsProps {
  readonly title: string;
  readonly placed: readonly Placed[];
}

/** Fields that are folded until a person opens them, or one of them is wrong. */
function OptionGroup({ title, placed, values, onChange, errors }: OptionGroupProps) {
  const parts = [...Map.groupBy(placed, ({ within }) => within)].map(([within, all]) => ({
    within,
    prefix: within === '' ? '' : `${within}.`,
    fields: all.map(({ field }) => field),
    own: within === '' ? values : valuesOf(values[within]),
  }));
  const [isOpen, setOpen] = useState(false);
  const isWrong = parts.some(({ prefix, fields }) =>
    fields.some(({ name }) => errorWithin(errors, prefix + name) !== undefined),
  );
  useEffect(() => {
    if (isWrong) setOpen(true);
  }, [isWrong, errors]);
  const changed = parts.reduce((sum, { fields, own }) => sum + changedCount(fields, own), 0);
  return (
    <Disclosure isExpanded={isOpen} onExpandedChange={setOpen} className={styles.group}>
      <Heading level={3} className={styles.groupHeading}>
        <AriaButton slot="trigger" className={`${styles.groupButton} fold`}>
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={16} />
          {title}
          {changed > 0 && (
            <span className={`${styles.changed} last`}>{rich('{changed} set', { changed })}</span>
          )}
        </AriaButton>
      </Heading>
      <DisclosurePanel className={styles.groupPanel}>
        {isOpen &&
          parts.map(({ within, prefix, fields, own }) => (
            <OptionFields
              key={within}
              fields={fields}
              prefix={prefix}
              value={own}
              onChange={(next) =>
                onChange(within === '' ? valuesOf(next) : { ...values, [within]: next })
              }
              errors={errors}
            />
          ))}
      </DisclosurePanel>
    </Disclosure>
  );
}
