import { useEffect, useState } from 'react';
import { Button, Disclosure, DisclosurePanel, Heading } from 'react-aria-components';
import { Icon } from '../../ui/icons.tsx';
import { OptionFields } from './OptionField.tsx';
import { errorWithin, type FieldErrors } from './Framed.tsx';
import styles from './Playground.module.css';
import { changedCount, type Draft, goesWith, type Values } from './request.ts';
import type { Field } from './request-schema.ts';

interface Group {
  readonly title: string;
  readonly names: readonly string[];
}

const GROUPS: readonly Group[] = [
  { title: 'Files', names: ['files'] },
  {
    title: 'Page',
    names: [
      'format',
      'page_size',
      'width',
      'height',
      'media',
      'margin_top',
      'margin_bottom',
      'margin_left',
      'margin_right',
      'scale',
      'page_ranges',
      'landscape',
      'single_page',
      'print_background',
      'prefer_css_page_size',
    ],
  },
  {
    title: 'Surroundings of the page',
    names: ['css', 'color_scheme', 'viewport', 'timezone', 'locale'],
  },
  { title: 'Header and footer', names: ['header_html', 'footer_html'] },
  { title: 'Document', names: ['filename', 'reference', 'tags', 'metadata', 'tagged', 'outline'] },
  { title: 'Scripts and waiting', names: ['javascript', 'wait_for', 'fail_on'] },
  { title: 'The same bytes each time', names: ['deterministic', 'deterministic_time'] },
  {
    title: 'Priority, webhook and retention',
    names: ['priority', 'webhook_url', 'retention_seconds'],
  },
  { title: 'Request of the URL', names: ['headers', 'cookies'] },
];

interface FilledGroup {
  readonly title: string;
  readonly fields: readonly Field[];
}

/** The fields by groups; those that no group names come last, so that a new option is there at once. */
function grouped(fields: readonly Field[]): readonly FilledGroup[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const named = GROUPS.map(({ title, names }) => ({
    title,
    fields: names.flatMap((name) => byName.get(name) ?? []),
  }));
  const known = new Set(GROUPS.flatMap(({ names }) => names));
  const other = { title: 'More', fields: fields.filter(({ name }) => !known.has(name)) };
  return [...named, other].filter((group) => group.fields.length > 0);
}

interface OptionsFormProps {
  readonly fields: readonly Field[];
  readonly draft: Draft;
  readonly onChange: (options: Values) => void;
  readonly errors: FieldErrors;
}

/** All options that go with the source, made from the schema of the request. */
export function OptionsForm({ fields, draft, onChange, errors }: OptionsFormProps) {
  const groups = grouped(fields.filter((field) => goesWith(field, draft.source)));
  return (
    <div>
      {groups.map((group) => (
        <OptionGroup
          key={group.title}
          {...group}
          options={draft.options}
          onChange={onChange}
          errors={errors}
        />
      ))}
    </div>
  );
}

interface OptionGroupProps extends FilledGroup {
  readonly options: Values;
  readonly onChange: (options: Values) => void;
  readonly errors: FieldErrors;
}

function OptionGroup({ title, fields, options, onChange, errors }: OptionGroupProps) {
  const [isOpen, setOpen] = useState(false);
  const isWrong = fields.some(({ name }) => errorWithin(errors, name) !== undefined);
  useEffect(() => {
    if (isWrong) setOpen(true);
  }, [isWrong, errors]);
  const changed = changedCount(fields, options);
  return (
    <Disclosure isExpanded={isOpen} onExpandedChange={setOpen} className={styles.group}>
      <Heading level={3} className={styles.groupHeading}>
        <Button slot="trigger" className={styles.groupButton}>
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={16} />
          {title}
          {changed > 0 && <span className={styles.changed}>{changed} set</span>}
        </Button>
      </Heading>
      <DisclosurePanel className={styles.groupPanel}>
        {isOpen && (
          <OptionFields
            fields={fields}
            value={options}
            onChange={(next) => onChange(next as Values)}
            errors={errors}
          />
        )}
      </DisclosurePanel>
    </Disclosure>
  );
}
