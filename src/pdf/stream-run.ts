/** The state of a content stream while it is followed, and the artifacts that are put into it. */
import { numbers, type Operation } from './content.ts';
import type { Font } from './fonts.ts';

export type Matrix = readonly [number, number, number, number, number, number];

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];
export const times = (a: Matrix, b: Matrix): Matrix => [
  a[0] * b[0] + a[1] * b[2],
  a[0] * b[1] + a[1] * b[3],
  a[2] * b[0] + a[3] * b[2],
  a[2] * b[1] + a[3] * b[3],
  a[4] * b[0] + a[5] * b[2] + b[4],
  a[4] * b[1] + a[5] * b[3] + b[5],
];

export function matrixOf(values: readonly number[]): Matrix {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = values;
  return [a, b, c, d, e, f];
}

interface Marked {
  /** Of an element or artifact, so that what lies in it needs no mark. */
  readonly isTagged: boolean;
  readonly id: number | undefined;
  /** Its text is said by `ActualText`. */
  readonly isExplained: boolean;
}

const PAINTS = new Set(['m', 're', 'sh']);

interface GraphicsState {
  readonly matrix: Matrix;
  readonly font: Font | undefined;
}

/** The state of a content stream while it is followed. */
export class StreamRun {
  readonly text: string;
  matrix: Matrix;
  font: Font | undefined;
  /** It has content of the tree of tags, also in what it paints. */
  holdsTags = false;
  /** The most states that were kept at a time. */
  deepest = 0;
  readonly #states: GraphicsState[] = [];
  readonly #marks: Marked[];
  #line: Matrix = IDENTITY;
  /** The places where an artifact begins or ends, in order. */
  readonly #insertions: { readonly at: number; readonly text: string }[] = [];
  #inArtifact = false;

  constructor(text: string, matrix: Matrix, isTagged: boolean) {
    this.text = text;
    this.matrix = matrix;
    this.#marks = isTagged ? [{ isTagged, id: undefined, isExplained: false }] : [];
  }

  get isTagged(): boolean {
    return this.#marks.some(({ isTagged }) => isTagged);
  }

  get isExplained(): boolean {
    return this.#marks.some(({ isExplained }) => isExplained);
  }

  get id(): number | undefined {
    return this.#marks.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The height of the text's base line on the page. */
  get baseline(): number {
    return times(this.#line, this.matrix)[5];
  }

  begin(operation: Operation, marked: Marked): void {
    if (marked.isTagged) this.endArtifact(operation.from);
    else if (!this.isTagged) this.paint(operation);
    this.holdsTags ||= marked.id !== undefined;
    this.#marks.push(marked);
  }

  /** Something is painted: what has no tag becomes an artifact. */
  paint({ from }: Operation): void {
    if (this.#inArtifact || this.isTagged) return;
    this.#insertions.push({ at: from, text: '/Artifact BMC\n' });
    this.#inArtifact = true;
  }

  endArtifact(at: number): void {
    if (!this.#inArtifact) return;
    this.#insertions.push({ at, text: '\nEMC\n' });
    this.#inArtifact = false;
  }

  follow(operation: Operation): void {
    const { text } = this;
    switch (operation.operator) {
      case 'q':
        this.#states.push({ matrix: this.matrix, font: this.font });
        this.deepest = Math.max(this.deepest, this.#states.length);
        break;
      case 'Q': {
        const state = this.#states.pop();
        if (state !== undefined) ({ matrix: this.matrix, font: this.font } = state);
        break;
      }
      case 'cm':
        this.matrix = times(matrixOf(numbers(text, operation)), this.matrix);
        break;
      case 'BT':
        this.#line = IDENTITY;
        this.paint(operation);
        break;
      case 'Tm':
        this.#line = matrixOf(numbers(text, operation));
        break;
      case 'Td':
      case 'TD': {
        const [x = 0, y = 0] = numbers(text, operation);
        this.#line = times([1, 0, 0, 1, x, y], this.#line);
        break;
      }
      case 'EMC':
        this.#marks.pop();
        break;
      default:
        if (PAINTS.has(operation.operator)) this.paint(operation);
    }
  }

  /** The content with its artifacts; undefined where it has none. */
  marked(): string | undefined {
    this.endArtifact(this.text.length);
    if (this.#insertions.length === 0) return undefined;
    const parts: string[] = [];
    let from = 0;
    for (const { at, text } of this.#insertions) {
      parts.push(this.text.slice(from, at), text);
      from = at;
    }
    return `${parts.join('')}${this.text.slice(from)}`;
  }
}
