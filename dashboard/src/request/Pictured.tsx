import type { ReactNode } from 'react';
import styles from './request.module.css';

const SHEET = 'M12 3h24v42H12z';
const TEXT = 'M16 16h16M16 21h16M16 26h16M16 31h10';

/** Pictures of what options do to a page, 48 by 48: what is there anyway, and what the option adds or changes. */
const PICTURES: Readonly<Record<string, readonly [there: string, changed: string]>> = {
  landscape: ['M4 6h18v26H4z', 'M14 24h30v20H14z'],
  margin_top: [SHEET, 'M18 10h12v28H18z'],
  header_html: [SHEET + TEXT, 'M16 9h16'],
  footer_html: [SHEET + TEXT, 'M16 39h16'],
  single_page: ['M27 3h16v19H27zM27 26h16v19H27z', 'M5 3h16v42H5z'],
  page_ranges: ['M2 12h12v20H2zM34 12h12v20H34z', 'M18 12h12v20H18z'],
  scale: [`${SHEET}M16 8h16v20H16z`, 'M16 8h9v11h-9z'],
  print_background: [SHEET, 'M14 6h20M14 12h20M14 18h20M14 24h20M14 30h20M14 36h20M14 42h20'],
  stamp: [SHEET + TEXT, 'M14 40L34 8'],
};

/** An option beside a picture of it, where one explains it. */
export function Pictured({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ReactNode;
}) {
  const picture = PICTURES[name];
  if (picture === undefined) return children;
  return (
    <div className={styles.pictured}>
      <svg viewBox="0 0 48 48" aria-hidden="true">
        {picture.map((path) => (
          <path key={path} d={path} />
        ))}
      </svg>
      {children}
    </div>
  );
}
