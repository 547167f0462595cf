/** The rules for tagged tables (ISO 14289-1, 7.5; ISO 32000-1, 14.8.4.3.4). */
import type { Findings } from './findings.ts';
import type { Element, StructureTree } from './structure.ts';
import { PdfString, type PdfValue } from './values.ts';

/** Cells that a table has at most: a span is a number that anybody may write. */
const MAX_CELLS = 1_000_000;
const SECTIONS = new Set(['THead', 'TBody', 'TFoot']);

export const elementsOf = ({ kids }: Element): Element[] =>
  kids.flatMap((kid) => (kid.kind === 'element' ? [kid.element] : []));

function idsIn(value: PdfValue | undefined): string[] {
  if (value instanceof PdfString) return [value.bytes];
  return Array.isArray(value)
    ? value.flatMap((each: PdfValue) => (each instanceof PdfString ? [each.bytes] : []))
    : [];
}

export class TableRules {
  readonly #tree: StructureTree;
  readonly #findings: Findings;

  constructor(tree: StructureTree, findings: Findings) {
    this.#tree = tree;
    this.#findings = findings;
  }

  check(table: Element): void {
    const parts = elementsOf(table);
    const counts = (type: string): number => parts.filter((each) => each.type === type).length;
    if (counts('THead') > 1 || counts('TFoot') > 1) {
      this.#add('a table has more than one head or foot', table);
    }
    if (counts('THead') + counts('TFoot') > 0 && counts('TBody') === 0) {
      this.#add('a table has a head or foot and no body', table);
    }
    const caption = parts.findIndex(({ type }) => type === 'Caption');
    if (counts('Caption') > 1 || (caption > 0 && caption < parts.length - 1)) {
      this.#add('the caption of a table is not its first or last part', table);
    }
    const rows = parts.flatMap((each) => {
      if (SECTIONS.has(each.type)) return elementsOf(each);
      return each.type === 'TR' ? [each] : [];
    });
    this.#checkGrid(table, rows.filter(({ type }) => type === 'TR').map(elementsOf));
    this.#checkHeaders(table, rows.flatMap(elementsOf));
  }

  #span(cell: Element, key: string): number {
    const span = this.#tree.attributes(cell, 'Table').get(key);
    return typeof span === 'number' && span >= 1 ? Math.floor(span) : 1;
  }

  /** Every row has as many columns as the first, each place has one cell, and no cell reaches below the last row. */
  #checkGrid(table: Element, rows: readonly Element[][]): void {
    /** The rows that each column is still taken for, by cells from above. */
    let taken: number[] = [];
    let width: number | undefined;
    let cells = 0;
    for (const row of rows) {
      const next: number[] = taken.map((left) => Math.max(0, left - 1));
      const used = taken.map((left) => left > 0);
      let column = 0;
      for (const cell of row) {
        while (used[column] === true) column += 1;
        const [columns, down] = [this.#span(cell, 'ColSpan'), this.#span(cell, 'RowSpan')];
        cells += columns;
        if (cells > MAX_CELLS) return this.#add('a table has too many cells', table);
        for (let each = column; each < column + columns; each += 1) {
          if (used[each] === true) return this.#add('cells of a table overlap', table);
          used[each] = true;
          next[each] = down - 1;
        }
      }
      const count = used.filter(Boolean).length;
      width ??= count;
      if (count !== width || used.length !== count) {
        return this.#add('the rows of a table have different numbers of columns', table);
      }
      taken = next;
    }
    if (taken.some((left) => left > 0))
      this.#add('a cell reaches below the last row of its table', table);
  }

  /** A cell with a heading names it, or the heading says what it is for. */
  #checkHeaders(table: Element, cells: readonly Element[]): void {
    const attributes = cells.map((each) => this.#tree.attributes(each, 'Table'));
    const ids = new Set(cells.flatMap(({ entries }) => idsIn(entries.get('ID') ?? undefined)));
    const named = attributes.flatMap((each) => idsIn(each.get('Headers')));
    if (named.some((id) => !ids.has(id))) {
      this.#add('a cell of a table names a heading that is not in it', table);
    }
    const lacks = cells.some(
      ({ type }, n) => type === 'TH' && attributes[n]?.has('Scope') !== true,
    );
    if (lacks && named.length === 0) {
      this.#add('a heading of a table does not say which cells it is for', table);
    }
  }

  #add(what: string, { page }: Element): void {
    this.#findings.add('access', 'ISO 14289-1, 7.5', what, page);
  }
}
