/** The tree of tags (ISO 32000-1, 14.7): read whole, mended where that says nothing else, and written back. */
import type { Findings } from './findings.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, dictionary, Name, PdfString, type PdfValue, Ref } from './values.ts';

export interface Element {
  readonly ref: Ref;
  readonly entries: Dictionary;
  /** The standard type that it is or stands for. */
  type: string;
  kids: Kid[];
  readonly page: number | undefined;
}

/** Content of a page by its id. */
interface ContentKid {
  readonly kind: 'content';
  readonly value: PdfValue;
  readonly page: number | undefined;
  readonly id: number;
}
/** An annotation. */
interface ObjectKid {
  readonly kind: 'object';
  readonly value: PdfValue;
  readonly object: Ref;
}
export type Kid = { readonly kind: 'element'; readonly element: Element } | ContentKid | ObjectKid;

/** Chrome has a page with more elements within each other crash. */
const MAX_DEPTH = 1_000;

const STANDARD = new Set(
  (
    'Document Part Art Sect Div BlockQuote Caption TOC TOCI Index NonStruct Private P H H1 H2 H3 H4 H5 H6 L LI Lbl LBody ' +
    'Table TR TH TD THead TBody TFoot Span Quote Note Reference BibEntry Code Link Annot Ruby RB RT RP Warichu WT WP ' +
    'Figure Formula Form'
  ).split(' '),
);
/** Types of PDF 2.0 that Chrome writes, and those that they stand for. */
const ROLES: Readonly<Record<string, string>> = {
  Em: 'Span',
  Strong: 'Span',
  Sub: 'Span',
  Title: 'P',
  Aside: 'Div',
  FENote: 'Note',
  DocumentFragment: 'Div',
};

export class StructureTree {
  readonly #objects: PdfObjects;
  readonly #findings: Findings;
  readonly #pages: ReadonlyMap<number, number>;
  readonly #roles = new Set<string>();
  readonly #changed = new Set<Element>();
  readonly #root: Dictionary;
  readonly roots: readonly Element[];

  /** @param pages the number of each page's object to its place, from 1 */
  constructor(objects: PdfObjects, pages: ReadonlyMap<number, number>, findings: Findings) {
    this.#objects = objects;
    this.#pages = pages;
    this.#findings = findings;
    this.#root = objects.dictionary(objects.catalog.get('StructTreeRoot'));
    this.roots = objects.list(this.#root.get('K')).flatMap((kid) => {
      const read = kid instanceof Ref ? this.#element(kid, undefined, 0) : undefined;
      return read === undefined ? [] : [read];
    });
  }

  /** Every element, each before what it holds. */
  *all(): Generator<Element> {
    const waiting = [...this.roots].toReversed();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      yield next;
      for (const kid of next.kids.toReversed())
        if (kid.kind === 'element') waiting.push(kid.element);
    }
  }

  #element(ref: Ref, pageAbove: number | undefined, depth: number): Element | undefined {
    const entries = this.#objects.dictionary(ref);
    const own = this.#objects.name(entries.get('S'));
    if (own === undefined) return undefined;
    if (depth > MAX_DEPTH) {
      this.#findings.add(
        'tags',
        'ISO 14289-1, 7.1',
        'elements lie within each other too deeply',
        pageAbove,
      );
      return undefined;
    }
    const page = this.#pageOf(entries) ?? pageAbove;
    const kids = this.#objects.list(entries.get('K')).flatMap((kid): Kid[] => {
      const read = this.#kid(kid, page, depth + 1);
      return read === undefined ? [] : [read];
    });
    return { ref, entries, type: this.#standard(own, page), kids, page: page ?? pageWithin(kids) };
  }

  #pageOf(entries: Dictionary): number | undefined {
    const page = entries.get('Pg');
    return page instanceof Ref ? this.#pages.get(page.number) : undefined;
  }

  #standard(type: string, page: number | undefined): string {
    if (STANDARD.has(type)) return type;
    const role = ROLES[type];
    if (role === undefined) {
      this.#findings.add('tags', 'ISO 14289-1, 7.1', `the tag ${type} is not a standard one`, page);
      return type;
    }
    this.#roles.add(type);
    return role;
  }

  #kid(value: PdfValue, page: number | undefined, depth: number): Kid | undefined {
    if (typeof value === 'number') return { kind: 'content', value, page, id: value };
    const entries = this.#objects.dictionary(value);
    const type = this.#objects.name(entries.get('Type'));
    if (type === 'OBJR') {
      const object = entries.get('Obj');
      return object instanceof Ref ? { kind: 'object', value, object } : undefined;
    }
    if (type === 'MCR') {
      const id = entries.get('MCID');
      const own = this.#pageOf(entries) ?? page;
      return typeof id === 'number' ? { kind: 'content', value, page: own, id } : undefined;
    }
    const element = value instanceof Ref ? this.#element(value, page, depth) : undefined;
    return element && { kind: 'element', element };
  }

  /** Gives an element another type. */
  retype(element: Element, type: string): void {
    element.type = type;
    element.entries.set('S', new Name(type));
    this.#changed.add(element);
  }

  touch(element: Element): void {
    this.#changed.add(element);
  }

  /** Puts an element of `type` between one and some of the kids that follow each other in it. */
  wrap(parent: Element, first: number, count: number, type: string): void {
    const kids = parent.kids.slice(first, first + count);
    const entries = dictionary({ Type: new Name('StructElem'), S: new Name(type), P: parent.ref });
    const page = parent.entries.get('Pg');
    if (page !== undefined) entries.set('Pg', page);
    const element: Element = {
      ref: this.#objects.add(entries),
      entries,
      type,
      kids,
      page: pageWithin(kids) ?? parent.page,
    };
    for (const kid of kids) {
      if (kid.kind !== 'element') continue;
      kid.element.entries.set('P', element.ref);
      this.#changed.add(kid.element);
    }
    parent.kids.splice(first, count, { kind: 'element', element });
    this.#changed.add(element).add(parent);
  }

  /** Writes what was changed. */
  save(): void {
    for (const { ref, entries, kids } of this.#changed) {
      const written = kids.map((kid) => (kid.kind === 'element' ? kid.element.ref : kid.value));
      entries.set('K', written.length === 1 ? (written[0] ?? null) : written);
      this.#objects.set(ref.number, entries);
    }
    const root = this.#objects.catalog.get('StructTreeRoot');
    if (this.#roles.size === 0 || !(root instanceof Ref)) return;
    const roles = this.#objects.dictionary(this.#root.get('RoleMap'));
    for (const type of this.#roles) roles.set(type, new Name(ROLES[type] ?? 'Span'));
    this.#root.set('RoleMap', roles);
    this.#objects.set(root.number, this.#root);
  }

  /** An entry of an element that is a text. */
  text({ entries }: Element, key: string): string | undefined {
    const value = this.#objects.resolve(entries.get(key));
    return value instanceof PdfString ? value.text : undefined;
  }

  /** The attributes of an owner, such as `Table`, in one dictionary. */
  attributes({ entries }: Element, owner: string): Dictionary {
    const all = this.#objects.list(entries.get('A')).map((each) => this.#objects.dictionary(each));
    return new Map(
      all
        .filter((each) => this.#objects.name(each.get('O')) === owner)
        .flatMap((each) => [...each]),
    );
  }
}

function pageWithin(kids: readonly Kid[]): number | undefined {
  for (const kid of kids) {
    const page = kid.kind === 'element' ? kid.element.page : undefined;
    const own = kid.kind === 'content' ? kid.page : page;
    if (own !== undefined) return own;
  }
  return undefined;
}
