/** Layers (optional content, ISO 32000-1, 8.11), kept when pages move to another document: what is hidden stays hidden. */
import { saveCatalog } from './bookmarks.ts';
import { pagesOf } from './page-tree.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, dictionary, Name, type PdfValue, Ref } from './values.ts';

/** An entry of pages that are on their way: qpdf takes along what a page refers to, and nothing of the catalog. */
const CARRIED = 'PressledgerLayers';
/** Lists of a configuration that have their place in a common one, too. */
const JOINED = ['Order', 'Locked', 'RBGroups', 'AS'];

/** Has each page take the document's layers along. */
export function carryLayers(objects: PdfObjects): void {
  const layers = objects.catalog.get('OCProperties');
  const known = objects.dictionary(layers).size > 0;
  const carried = layers instanceof Ref || layers === undefined ? layers : objects.add(layers);
  for (const page of pagesOf(objects)) {
    const entries = objects.dictionary(page);
    entries.delete(CARRIED);
    if (known && carried !== undefined) entries.set(CARRIED, carried);
    objects.set(page.number, entries);
  }
}

/** Gives the document the layers that its pages have taken along. */
export function settleLayers(objects: PdfObjects): void {
  const carried = new Map<number, Ref>();
  for (const page of pagesOf(objects)) {
    const entries = objects.dictionary(page);
    const layers = entries.get(CARRIED);
    if (!(layers instanceof Ref)) continue;
    carried.set(layers.number, layers);
    entries.delete(CARRIED);
    objects.set(page.number, entries);
  }
  const [first, ...others] = carried.values();
  if (first === undefined) return;
  const all = [first, ...others].map((each) => objects.dictionary(each));
  objects.catalog.set('OCProperties', others.length === 0 ? first : joined(objects, all));
  saveCatalog(objects);
}

function joined(objects: PdfObjects, all: readonly Dictionary[]): Dictionary {
  const configs = all.map((each) => objects.dictionary(each.get('D')));
  const lists = JOINED.map((key) => [key, configs.flatMap((each) => objects.list(each.get(key)))]);
  const intents = new Set(configs.map((each) => objects.name(each.get('Intent')) ?? 'View'));
  return dictionary({
    OCGs: all.flatMap((each) => objects.list(each.get('OCGs'))),
    D: new Map<string, PdfValue>([
      ['OFF', all.flatMap((each) => hidden(objects, each))],
      // A layer of the intent that a common one leaves out would be shown.
      ['Intent', new Name(intents.size === 1 ? ([...intents][0] ?? 'View') : 'All')],
      ...(lists.filter(([, items]) => items?.length) as [string, PdfValue][]),
    ]),
  });
}

/** The layers that the document's own configuration hides. */
function hidden(objects: PdfObjects, layers: Dictionary): readonly PdfValue[] {
  const config = objects.dictionary(layers.get('D'));
  if (objects.name(config.get('BaseState')) !== 'OFF') return objects.list(config.get('OFF'));
  const shown = new Set(objects.list(config.get('ON')).map(numberOf));
  return objects.list(layers.get('OCGs')).filter((each) => !shown.has(numberOf(each)));
}

const numberOf = (value: PdfValue): number | undefined =>
  value instanceof Ref ? value.number : undefined;

/**
 * Hides what annotations of hidden layers show by their own appearance, too: it becomes content of the page when they are
 * flattened.
 */
export function hideAppearances(objects: PdfObjects): void {
  for (const page of pagesOf(objects)) {
    for (const each of objects.list(objects.dictionary(page).get('Annots'))) {
      const annotation = objects.dictionary(each);
      const layer = annotation.get('OC');
      if (layer === undefined) continue;
      const shown = objects.dictionary(annotation.get('AP')).get('N');
      for (const look of [shown, ...objects.dictionary(shown).values()]) {
        if (!(look instanceof Ref)) continue;
        const form = objects.dictionary(look);
        if (form.has('Length') && !form.has('OC')) objects.set(look.number, form.set('OC', layer));
      }
    }
  }
}
