/** The operations of a content stream (ISO 32000-1, 7.8.2), one after the other. */
import { MalformedPdf, type PdfValue, Scanner } from './values.ts';

export interface Operation {
  readonly operator: string;
  /** The place of its first operand, or its own. */
  readonly from: number;
  /** The place of the operator. */
  readonly at: number;
}

const isDelimiter = (code: number): boolean =>
  code === 40 || code === 60 || code === 47 || code === 91;
const isSpace = (code: number): boolean =>
  code === 32 || code === 10 || code === 13 || code === 9 || code === 12 || code === 0;
const isNumber = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 43 && code <= 46);

/** The place behind an operand that begins at `at`. */
function operandEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  // A hexadecimal string, the usual form of text.
  if (code === 60 && text.charCodeAt(at + 1) !== 60)
    return text.indexOf('>', at) + 1 || text.length;
  if (isDelimiter(code)) {
    const scanner = new Scanner(text, at);
    scanner.value();
    return scanner.at;
  }
  let end = at + 1;
  while (end < text.length && !isSpace(text.charCodeAt(end)) && isNumber(text.charCodeAt(end))) {
    end += 1;
  }
  return end;
}

/** @throws {MalformedPdf} */
export function* operations(text: string): Generator<Operation> {
  let from = -1;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      at += 1;
    } else if (isNumber(code) || isDelimiter(code)) {
      if (from === -1) from = at;
      at = operandEnd(text, at);
    } else if (code === 37) {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
    } else {
      let end = at + 1;
      while (
        end < text.length &&
        !isSpace(text.charCodeAt(end)) &&
        !isDelimiter(text.charCodeAt(end))
      ) {
        end += 1;
      }
      const operator = text.slice(at, end);
      if (operator === 'BI') throw new MalformedPdf('an image lies within the content of a page');
      if (operator === 'true' || operator === 'false' || operator === 'null') {
        if (from === -1) from = at;
      } else {
        yield { operator, from: from === -1 ? at : from, at };
        from = -1;
      }
      at = end;
    }
  }
}

/** The operands of an operation. */
export function operands(text: string, { from, at }: Operation): PdfValue[] {
  const scanner = new Scanner(text, from);
  const values: PdfValue[] = [];
  for (scanner.skip(); scanner.at < at; scanner.skip()) values.push(scanner.value());
  return values;
}

/** The operands as numbers. */
export function numbers(text: string, operation: Operation): number[] {
  return text.slice(operation.from, operation.at).trim().split(/\s+/).map(Number);
}
