/** Bookmarks and links within a document, kept when its pages move to another one (ISO 32000-1, 12.3). */
import { pagesOf } from './page-tree.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, dictionary, Name, PdfString, type PdfValue, Ref } from './values.ts';

/** More are not kept. */
const MAX_BOOKMARKS = 20_000;
const MAX_LEVELS = 40;

export interface Bookmark {
  readonly title: PdfString;
  /** The page that it leads to, from 0; undefined where it leads nowhere. */
  readonly page: number | undefined;
  /** The place on the page, such as `/XYZ 72 700 0`. */
  readonly place: readonly PdfValue[];
  readonly isOpen: boolean;
  readonly children: readonly Bookmark[];
}

const FIT: readonly PdfValue[] = [new Name('Fit')];
/** The entries of a place on a page, and the letters of their names (ISO 32000-1, 12.3.2.2). */
const MAX_PLACE = 5;
const MAX_NAME = 20;
const isPlain = (value: PdfValue): boolean =>
  value === null ||
  typeof value === 'number' ||
  (value instanceof Name && value.value.length <= MAX_NAME);

/** The named places of a document. */
class Destinations {
  readonly #objects: PdfObjects;
  #named: ReadonlyMap<string, PdfValue> | undefined;

  constructor(objects: PdfObjects) {
    this.#objects = objects;
  }

  /** The place that a bookmark or link leads to within the document, as an array that begins with its page. */
  of(entries: Dictionary): readonly PdfValue[] | undefined {
    const action = this.#objects.dictionary(entries.get('A'));
    const leads = this.#objects.name(action.get('S')) === 'GoTo' ? action.get('D') : undefined;
    return this.#place(entries.get('Dest') ?? leads);
  }

  #place(value: PdfValue | undefined): readonly PdfValue[] | undefined {
    const resolved = this.#objects.resolve(value);
    let found = resolved;
    if (resolved instanceof Name || resolved instanceof PdfString) {
      this.#named ??= this.#names();
      const key = resolved instanceof Name ? resolved.value : resolved.bytes;
      found = this.#objects.resolve(this.#named.get(key));
    }
    if (found instanceof Map) found = this.#objects.resolve(found.get('D'));
    if (!Array.isArray(found)) return undefined;
    const [page, ...place] = found as readonly PdfValue[];
    if (!(page instanceof Ref)) return undefined;
    // Each link gets a copy: nothing long, and nothing that leads elsewhere.
    return [page, ...(place.length <= MAX_PLACE && place.every(isPlain) ? place : FIT)];
  }

  #names(): ReadonlyMap<string, PdfValue> {
    const objects = this.#objects;
    const trees = objects.dictionary(objects.catalog.get('Names'));
    return new Map([
      ...objects.dictionary(objects.catalog.get('Dests')),
      ...nameTree(objects, trees.get('Dests')).map(([key, value]) => [key.bytes, value] as const),
    ]);
  }
}

/** The entries of a name tree (ISO 32000-1, 7.9.6). */
export function nameTree(
  objects: PdfObjects,
  root: PdfValue | undefined,
): (readonly [PdfString, PdfValue])[] {
  const entries: (readonly [PdfString, PdfValue])[] = [];
  const seen = new Set<Dictionary>();
  const waiting = [objects.dictionary(root)];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    const names = objects.list(node.get('Names'));
    for (let n = 0; n + 1 < names.length; n += 2) {
      const key = objects.resolve(names[n]);
      if (key instanceof PdfString) entries.push([key, names[n + 1] ?? null]);
    }
    for (const kid of objects.list(node.get('Kids')).toReversed()) {
      waiting.push(objects.dictionary(kid));
    }
  }
  return entries;
}

/** Makes every link name its page itself: names are lost when the page moves. */
export function resolveLinks(objects: PdfObjects): void {
  const destinations = new Destinations(objects);
  for (const page of pagesOf(objects)) {
    const entries = objects.dictionary(page);
    for (const each of objects.list(entries.get('Annots'))) {
      const link = objects.dictionary(each);
      const place = destinations.of(link);
      if (place === undefined) continue;
      link.delete('A');
      link.set('Dest', place);
      if (each instanceof Ref) objects.set(each.number, link);
      else {
        // It lies in the page or in an array beside it.
        entries.set('Annots', objects.resolve(entries.get('Annots')));
        objects.set(page.number, entries);
      }
    }
  }
}

export function readBookmarks(objects: PdfObjects): readonly Bookmark[] {
  const destinations = new Destinations(objects);
  const numbers = new Map(pagesOf(objects).map(({ number }, n) => [number, n]));
  const seen = new Set<Dictionary>();
  const below = (parent: Dictionary, level: number): readonly Bookmark[] => {
    const found: Bookmark[] = [];
    if (level > MAX_LEVELS) return found;
    let item = objects.dictionary(parent.get('First'));
    while (item.size > 0 && !seen.has(item) && seen.size < MAX_BOOKMARKS) {
      seen.add(item);
      const [page, ...place] = destinations.of(item) ?? [];
      const title = objects.resolve(item.get('Title'));
      const count = objects.resolve(item.get('Count'));
      found.push({
        title: title instanceof PdfString ? title : new PdfString(''),
        page: page instanceof Ref ? numbers.get(page.number) : undefined,
        place,
        isOpen: typeof count === 'number' && count > 0,
        children: below(item, level + 1),
      });
      item = objects.dictionary(item.get('Next'));
    }
    return found;
  };
  return below(objects.dictionary(objects.catalog.get('Outlines')), 0);
}

/**
 * Moves bookmarks with their pages. One whose page is gone goes too, but for what lies below it.
 * @param moved the new number of a page; undefined for one that is gone
 */
export function movedBookmarks(
  bookmarks: readonly Bookmark[],
  moved: (page: number) => number | undefined,
): readonly Bookmark[] {
  return bookmarks.flatMap((each) => {
    const page = each.page === undefined ? undefined : moved(each.page);
    const children = movedBookmarks(each.children, moved);
    return page === undefined ? children : [{ ...each, page, children }];
  });
}

/** Gives the document these bookmarks in the place of its own. */
export function writeBookmarks(objects: PdfObjects, bookmarks: readonly Bookmark[]): void {
  const { catalog } = objects;
  if (bookmarks.length === 0) catalog.delete('Outlines');
  else {
    const pages = pagesOf(objects);
    const root = dictionary({ Type: new Name('Outlines') });
    const ref = objects.add(root);
    addBelow(objects, { entries: root, ref }, bookmarks, pages);
    catalog.set('Outlines', ref);
  }
  saveCatalog(objects);
}

/** @returns the number of bookmarks that show */
function addBelow(
  objects: PdfObjects,
  parent: { readonly entries: Dictionary; readonly ref: Ref },
  bookmarks: readonly Bookmark[],
  pages: readonly Ref[],
): number {
  const items = bookmarks.map((bookmark) => {
    const page = bookmark.page === undefined ? undefined : pages[bookmark.page];
    const entries = dictionary({
      Title: bookmark.title,
      Parent: parent.ref,
      Dest: page && [page, ...bookmark.place],
    });
    return { bookmark, entries, ref: objects.add(entries) };
  });
  let shown = items.length;
  for (const [n, { bookmark, entries, ref }] of items.entries()) {
    const [before, after] = [items[n - 1], items[n + 1]];
    if (before) entries.set('Prev', before.ref);
    if (after) entries.set('Next', after.ref);
    if (bookmark.children.length === 0) continue;
    const below = addBelow(objects, { entries, ref }, bookmark.children, pages);
    entries.set('Count', bookmark.isOpen ? below : -below);
    if (bookmark.isOpen) shown += below;
  }
  const [first, last] = [items[0], items.at(-1)];
  if (first && last) parent.entries.set('First', first.ref).set('Last', last.ref);
  if (!parent.entries.has('Title')) parent.entries.set('Count', shown);
  return shown;
}

/** The catalog is changed: it is written again. */
export function saveCatalog(objects: PdfObjects): void {
  const root = objects.trailer.get('Root');
  if (root instanceof Ref) objects.set(root.number, objects.catalog);
}
