/** What of a conversion is searched, as words and terms: made of its row by opening what is sealed. */
import { CONVERSION_STATUSES, type ConversionStatus } from '../../projections/conversion-pages.ts';
import type { SearchRow } from '../../projections/conversions.ts';
import { tagsIn } from '../accounts/conversion-names.ts';
import type { Open } from '../documents/keys/vault.ts';
import { wordsOf } from '../text/words.ts';
import type { SearchIndex } from './search-index.ts';

/** A conversion as an index takes it in. */
export interface SearchEntry {
  readonly number: number;
  readonly id: string;
  readonly status: number;
  /** One text with spaces between, for it may come from another thread: a list costs several times as much. */
  readonly words: string;
  /** With NULs between, which no text of a request has. */
  readonly terms: string;
}

export const statusNumber = (status: ConversionStatus): number =>
  CONVERSION_STATUSES.indexOf(status) + 1;
const COMPLETED = statusNumber('completed');

/**
 * A conversion whose texts cannot be read is found by all else of it, and keeps no other from being found.
 * @param before the status that the index has of it; 0: none, for it has nothing of it yet
 */
export function entryOf(row: SearchRow, open: Open, before = 0): SearchEntry {
  try {
    return readEntry(row, open, before);
  } catch {
    return readEntry(row, () => undefined, before);
  }
}

function readEntry(row: SearchRow, open: Open, before: number): SearchEntry {
  const { number, id } = row;
  const status = statusNumber(row.status);
  const words: string[] = [];
  const terms: string[] = [];
  const read = (sealed: string | undefined): string => {
    const text = (sealed && open(sealed)) || '';
    words.push(...wordsOf(text));
    return text;
  };
  if (before === 0) {
    const { source, keyId, batchId, filename, address } = row;
    read(filename);
    read(address);
    const reference = read(row.reference);
    if (reference !== '') terms.push(`reference ${reference}`);
    for (const [name, value] of Object.entries(tagsIn(row.tags && open(row.tags)) ?? {})) {
      words.push(...wordsOf(`${name} ${value}`));
      terms.push(`tag ${name}`, `tag ${name}:${value}`);
    }
    terms.push(`source ${source}`);
    if (keyId !== undefined) terms.push(`key ${keyId}`);
    if (batchId !== undefined) terms.push(`batch ${batchId}`);
    if (row.isTest === 1) terms.push('test');
    if (row.templateId !== undefined) terms.push(`template ${row.templateId}`);
  }
  if (status === COMPLETED && before !== COMPLETED) {
    read(row.title);
    if (row.hasWarnings === 1) terms.push('warnings');
  }
  return { number, id, status, words: words.join(' '), terms: terms.join('\0') };
}

/** Takes a conversion into an index, or what is new of it. */
export function enter(index: SearchIndex, { number, id, status, words, terms }: SearchEntry): void {
  index.setStatus(number, id, status);
  if (words !== '') index.addWords(number, words.split(' '));
  if (terms !== '') for (const term of terms.split('\0')) index.addTerm(number, term);
}
