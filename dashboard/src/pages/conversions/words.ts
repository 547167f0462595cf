/** The state of a conversion in words. */
import type { deletionOf } from '../../api/conversions.ts';
import { formatTime } from '../../ui/Time.tsx';

/** @param what "The request", or another thing that is stored of a conversion */
export const deletionText = (
  what: string,
  { time, isAskedFor }: NonNullable<ReturnType<typeof deletionOf>>,
): string =>
  isAskedFor
    ? `${what} was deleted on ${formatTime(time)}, as this account asked.`
    : `${what} was deleted on ${formatTime(time)}, at the end of its time.`;
