/** The rules of PDF/UA-1 (ISO 14289-1) for tags: mends what the tree can say otherwise, and finds the rest. */

import { isBlank } from '../text/plain-text.ts';
import type { Findings } from './findings.ts';
import type { WantedTexts } from './page-content.ts';
import type { PdfObjects } from './pdf-objects.ts';
import type { Element, StructureTree } from './structure.ts';
import { elementsOf, TableRules } from './tables.ts';
import { type Dictionary, Name, PdfString, Ref } from './values.ts';

/** The elements that may hold an element of the type. */
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  TR: ['Table', 'THead', 'TBody', 'TFoot'],
  THead: ['Table'],
  TBody: ['Table'],
  TFoot: ['Table'],
  TH: ['TR'],
  TD: ['TR'],
  LI: ['L'],
  LBody: ['LI'],
  TOCI: ['TOC'],
};
/** The elements that an element of the type may hold. */
const KIDS: Readonly<Record<string, readonly string[]>> = {
  Table: ['TR', 'THead', 'TBody', 'TFoot', 'Caption'],
  THead: ['TR'],
  TBody: ['TR'],
  TFoot: ['TR'],
  TR: ['TH', 'TD'],
  L: ['L', 'LI', 'Caption'],
  LI: ['Lbl', 'LBody'],
  TOC: ['TOC', 'TOCI', 'Caption'],
};
/** Names of types for people who write HTML. */
const IN_HTML: Readonly<Record<string, string>> = {
  Table: '<table>',
  TR: '<tr>',
  TH: '<th>',
  TD: '<td>',
  THead: '<thead>',
  TBody: '<tbody>',
  TFoot: '<tfoot>',
  L: 'list',
  LI: '<li>',
  Caption: '<caption>',
  P: '<p>',
  Div: '<div>',
  NonStruct: 'text or other element',
};
const inHtml = (type: string): string => IN_HTML[type] ?? type;

/** RFC 3066, as ISO 14289-1 has it. */
const LANGUAGE = /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/;

export class AccessRules {
  readonly #tree: StructureTree;
  readonly #objects: PdfObjects;
  readonly #findings: Findings;
  readonly #links: { readonly element: Element; readonly annotation: Ref }[] = [];

  constructor(tree: StructureTree, objects: PdfObjects, findings: Findings) {
    this.#tree = tree;
    this.#objects = objects;
    this.#findings = findings;
  }

  /** @returns the content whose text describes a link, for `describeLinks` */
  check(): WantedTexts {
    const tables = new TableRules(this.#tree, this.#findings);
    /** The levels, as they are in the page, of the headings that the last one stands under, and its own. */
    const levels: number[] = [];
    let notes = 0;
    for (const element of this.#tree.all()) {
      const { type, page } = element;
      this.#nest(element);
      const [, level] = /^H([1-6])$/.exec(type) ?? [];
      if (level !== undefined) this.#heading(element, Number(level), levels);
      if (type === 'Table') tables.check(element);
      if (type === 'Link') this.#noteLinks(element);
      if ((type === 'Figure' || type === 'Formula') && !this.#hasAlternative(element)) {
        const what = type === 'Figure' ? 'an image' : 'a formula';
        this.#findings.add('access', 'ISO 14289-1, 7.3', `${what} has no alternative text`, page);
      }
      if (type === 'Note' && !element.entries.has('ID')) {
        notes += 1;
        element.entries.set('ID', new PdfString(`note-${notes}`));
        this.#tree.touch(element);
      }
      const language = this.#tree.text(element, 'Lang');
      if (language !== undefined && language !== '' && !LANGUAGE.test(language)) {
        const what = `“${language.slice(0, 40)}” is not a language such as en or de-CH`;
        this.#findings.add('tags', 'ISO 14289-1, 7.2', what, page);
      }
    }
    return this.#wantedTexts();
  }

  #hasAlternative(element: Element): boolean {
    return ['Alt', 'ActualText'].some((key) => !isBlank(this.#tree.text(element, key) ?? ''));
  }

  /** Elements stand only where they may. A list within an item of another belongs to the item's body. */
  #nest(element: Element): void {
    const { type, page } = element;
    const allowed = KIDS[type];
    if (type === 'LI') this.#bodies(element);
    for (const kid of elementsOf(element)) {
      const parents = PARENTS[kid.type];
      if (allowed !== undefined && !allowed.includes(kid.type)) {
        const what = `a ${inHtml(type)} holds a ${inHtml(kid.type)}, which must not stand there`;
        this.#findings.add('access', 'ISO 14289-1, 7.2', what, kid.page ?? page);
      } else if (parents !== undefined && !parents.includes(type)) {
        const what = `a ${inHtml(kid.type)} stands outside of its ${inHtml(parents[0] ?? '')}`;
        this.#findings.add('access', 'ISO 14289-1, 7.2', what, kid.page ?? page);
      }
    }
  }

  #bodies(item: Element): void {
    for (let at = item.kids.length - 1; at >= 0; at -= 1) {
      const kid = item.kids[at];
      if (kid?.kind !== 'element' || ['Lbl', 'LBody'].includes(kid.element.type)) continue;
      this.#tree.wrap(item, at, 1, 'LBody');
    }
  }

  /** Levels that a page leaves out are closed: a heading has the level of its depth among the others. */
  #heading(element: Element, level: number, levels: number[]): void {
    while ((levels.at(-1) ?? 0) >= level) levels.pop();
    levels.push(level);
    if (levels.length !== level) this.#tree.retype(element, `H${levels.length}`);
  }

  #noteLinks(element: Element): void {
    for (const kid of element.kids) {
      if (kid.kind === 'object') this.#links.push({ element, annotation: kid.object });
    }
  }

  #wantedTexts(): WantedTexts {
    const wanted = new Map<number, Map<number, string>>();
    const want = (element: Element): void => {
      for (const kid of element.kids) {
        if (kid.kind === 'element') want(kid.element);
        if (kid.kind !== 'content' || kid.page === undefined) continue;
        const ids = wanted.get(kid.page) ?? new Map<number, string>();
        wanted.set(kid.page, ids.set(kid.id, ''));
      }
    };
    for (const { element } of this.#links) want(element);
    return wanted;
  }

  /** Says of each link what it is: its alternative text, its text, or its target. */
  describeLinks(texts: WantedTexts): void {
    const described = new Set<number>();
    for (const { element, annotation } of this.#links) {
      described.add(annotation.number);
      const entries = this.#objects.dictionary(annotation);
      if (entries.has('Contents')) continue;
      const text = textWithin(element, texts).trim().replaceAll(/\s+/g, ' ');
      const sayings = [this.#tree.text(element, 'Alt') ?? '', text, this.#target(entries)];
      const said = sayings.find((each) => !isBlank(each));
      if (said === undefined) continue;
      entries.set('Contents', PdfString.of(said.slice(0, 1_000).toWellFormed()));
      this.#objects.set(annotation.number, entries);
    }
    this.#described = described;
  }

  #described: ReadonlySet<number> = new Set();

  #target(annotation: Dictionary): string {
    const uri = this.#objects.resolve(this.#objects.dictionary(annotation.get('A')).get('URI'));
    if (uri instanceof PdfString) return uri.bytes;
    const place = this.#objects.resolve(annotation.get('Dest'));
    return place instanceof Name ? `#${place.value}` : '';
  }

  /** Every annotation must belong to an element that says what it is. */
  checkAnnotations(page: Dictionary, number: number): void {
    for (const each of this.#objects.list(page.get('Annots'))) {
      if (!(each instanceof Ref) || !this.#described.has(each.number)) {
        const what = 'a link has no tag: links in headers, footers and frames have none';
        this.#findings.add('access', 'ISO 14289-1, 7.18', what, number);
      } else if (!this.#objects.dictionary(each).has('Contents')) {
        this.#findings.add('access', 'ISO 14289-1, 7.18', 'a link has no text', number);
      }
    }
  }
}

function textWithin(element: Element, texts: WantedTexts): string {
  return element.kids
    .map((kid) => {
      if (kid.kind === 'element') return textWithin(kid.element, texts);
      if (kid.kind !== 'content' || kid.page === undefined) return '';
      return texts.get(kid.page)?.get(kid.id) ?? '';
    })
    .join('');
}
