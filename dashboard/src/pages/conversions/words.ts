/** The state of a conversion in words. */
import type { Conversion, deletionOf } from '../../api/conversions.ts';
import { formatTime } from '../../ui/records.tsx';
import { t } from '../../words/words.ts';

type Deletion = NonNullable<ReturnType<typeof deletionOf>>;

const CAUSES: Readonly<Record<Deletion['cause'], string>> = {
  asked: t('as this account asked'),
  cancelled: t('because the conversion was cancelled'),
  time: t('at the end of its time'),
};

/** @param what "The request", or another thing that is stored of a conversion */
export const deletionText = (what: string, { time, cause }: Deletion): string =>
  t('{what} was deleted on {time}, {cause}.', {
    what,
    time: formatTime(time),
    cause: CAUSES[cause],
  });

/** Pages that a text names. */
const MOST_NAMED = 20;

/** How the PDF compares with that of the first conversion. */
export function comparisonText({ equal, pages }: NonNullable<Conversion['rerender']>): string {
  if (equal) return t('Equal, byte for byte');
  if (pages === undefined) return t('The bytes differ; of the pages nothing is known');
  if (pages.length === 0)
    return t('Every page shows the same; the bytes differ, as by their dates');
  const named = pages.slice(0, MOST_NAMED).join(', ');
  const more = pages.length > MOST_NAMED ? t(' and others') : '';
  return pages.length === 1
    ? t('Page {named} differs', { named })
    : t('Pages {named}{more} differ', { named, more });
}
