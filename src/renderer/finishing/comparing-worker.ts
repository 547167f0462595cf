/** A thread of its own: compares the pages of two PDFs. */
import { differingPages, pageDigests } from '../../pdf/page-digests.ts';
import type { Compared, ToCompare } from './comparison.ts';

export default function compare({ one, other }: ToCompare): Compared {
  return differingPages(pageDigests(Buffer.from(one)), pageDigests(Buffer.from(other)));
}
