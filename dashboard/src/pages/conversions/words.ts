/** The state of a conversion in words. */
import type { deletionOf } from '../../api/conversions.ts';
import { formatTime } from '../../ui/Time.tsx';

type Deletion = NonNullable<ReturnType<typeof deletionOf>>;

const CAUSES: Readonly<Record<Deletion['cause'], string>> = {
  asked: 'as this account asked',
  cancelled: 'because the conversion was cancelled',
  time: 'at the end of its time',
};

/** @param what "The request", or another thing that is stored of a conversion */
export const deletionText = (what: string, { time, cause }: Deletion): string =>
  `${what} was deleted on ${formatTime(time)}, ${CAUSES[cause]}.`;
