/** Batches in words. */
import type { Batch } from '../../api/batches.ts';
import { counted, formatNumber } from '../../ui/format.ts';
import { Badge } from '../../ui/records.tsx';
import { t } from '../../words/words.ts';

const STATUS_TEXTS = {
  running: { tone: 'accent', icon: 'progress', text: t('Running') },
  ended: { tone: 'ok', icon: 'check', text: t('Ended') },
  cancelled: { tone: 'neutral', icon: 'cross', text: t('Cancelled') },
} as const;

export const BatchBadge = ({ status }: Pick<Batch, 'status'>) => (
  <Badge {...STATUS_TEXTS[status]} />
);

/** The name of a batch: its reference, else how many it has. */
export const batchName = ({ reference, total }: Batch): string =>
  reference ?? t('Batch of {total}', { total: counted(total, 'conversion') });

export const progressText = ({ total, pending }: Batch): string =>
  t('{formatNumber} of {total} have ended', {
    formatNumber: formatNumber(total - pending),
    total: formatNumber(total),
  });
