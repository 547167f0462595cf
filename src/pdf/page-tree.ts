/** The pages of a PDF in their order, and what is done to each of them. */
import type { PdfObjects } from './pdf-objects.ts';
import { type PdfValue, Ref } from './values.ts';

export function pagesOf(objects: PdfObjects): Ref[] {
  const pages: Ref[] = [];
  const seen = new Set<number>();
  const waiting = [objects.catalog.get('Pages')];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!(next instanceof Ref) || seen.has(next.number)) continue;
    seen.add(next.number);
    const entries = objects.dictionary(next);
    if (objects.name(entries.get('Type')) === 'Page') pages.push(next);
    else {
      // One by one: as the parameters of one call, a long list would not fit on the stack.
      for (const kid of objects.list(entries.get('Kids')).toReversed()) waiting.push(kid);
    }
  }
  return pages;
}

/** An entry of a page that it may have from a node above it. */
export function inherited(objects: PdfObjects, page: Ref, key: string): PdfValue {
  const seen = new Set<number>();
  for (let node: PdfValue | undefined = page; node instanceof Ref && !seen.has(node.number); ) {
    seen.add(node.number);
    const entries = objects.dictionary(node);
    if (entries.has(key)) return objects.resolve(entries.get(key));
    node = entries.get('Parent');
  }
  return null;
}

/** @param degrees clockwise */
export function rotate(objects: PdfObjects, pages: readonly Ref[], degrees: number): void {
  for (const page of pages) {
    const before = inherited(objects, page, 'Rotate');
    const now = ((typeof before === 'number' ? before : 0) + degrees) % 360;
    objects.set(page.number, objects.dictionary(page).set('Rotate', now));
  }
}

/**
 * The numbers of pages, from 0, that ranges such as `1-5, 8` name, in their order.
 * @returns undefined where a page is named that is not there
 */
export function pageNumbers(ranges: string, count: number): readonly number[] | undefined {
  const numbers: number[] = [];
  for (const range of ranges.split(',')) {
    const [first = '', last = first] = range.split('-');
    const [from, to] = [Number(first), Number(last)];
    if (!(from >= 1 && to >= from && to <= count)) return undefined;
    for (let page = from; page <= to; page += 1) numbers.push(page - 1);
  }
  return numbers;
}
