import { Button } from './Button.tsx';
import { formatNumber } from './format.ts';
import { Icon } from './icons.tsx';
import styles from './Pagination.module.css';

interface PaginationProps {
  /** The name of the listed things, such as "conversions". */
  readonly of: string;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  readonly onPage: (page: number) => void;
}

/** Shown where a list has more than one page. */
export function Pagination({ of, page, pageSize, total, onPage }: PaginationProps) {
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (last === 1 && page === 1) return null;
  const first = (page - 1) * pageSize + 1;
  const end = Math.min(page * pageSize, total);
  return (
    <nav aria-label={`Pages of ${of}`} className={styles.pagination}>
      <span className={styles.shown} aria-live="polite">
        {first > total
          ? `None of ${formatNumber(total)} ${of}`
          : `${formatNumber(first)} to ${formatNumber(end)} of ${formatNumber(total)} ${of}`}
      </span>
      <Button small icon="chevronLeft" isDisabled={page <= 1} onPress={() => onPage(page - 1)}>
        Newer
      </Button>
      <Button small isDisabled={page >= last} onPress={() => onPage(page + 1)}>
        Older
        <Icon name="chevronRight" size={16} />
      </Button>
    </nav>
  );
}
