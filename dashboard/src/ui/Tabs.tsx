import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
import styles from './Tabs.module.css';

type TabSpec = { readonly id: string; readonly title: string; readonly content: ReactNode };

interface TabsProps {
  /** The name of the group of tabs, for screen readers. */
  readonly label: string;
  readonly tabs: readonly TabSpec[];
  readonly selected?: string;
  readonly onSelect?: (id: string) => void;
}

export function Tabs({ label, tabs, selected, onSelect }: TabsProps) {
  return (
    <AriaTabs
      selectedKey={selected}
      onSelectionChange={(key) => onSelect?.(String(key))}
      className="stack"
    >
      <TabList aria-label={label} className={styles.list}>
        {tabs.map(({ id, title }) => (
          <Tab key={id} id={id} className={styles.tab}>
            {title}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id}>
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
