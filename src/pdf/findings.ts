/** What keeps a PDF from conforming, in words for the client. */

/**
 * A part of the rules: `file` holds for every conformance, `archive` for PDF/A, `unicode` for its levels u and a and for
 * PDF/UA, `level-a` for level a, `tags` for level a and PDF/UA, `access` for PDF/UA.
 */
export type RuleSet = 'file' | 'archive' | 'unicode' | 'level-a' | 'tags' | 'access';

interface Finding {
  readonly rules: RuleSet;
  /** The clause of the standard. */
  readonly clause: string;
  readonly text: string;
}

/** A document of which more is wrong is no better understood by more lines. */
const MAX_FINDINGS = 1_000;

export class Findings {
  readonly #list: Finding[] = [];
  readonly #known = new Set<string>();

  /** @param page from 1; undefined for what concerns the whole document */
  add(rules: RuleSet, clause: string, what: string, page?: number): void {
    const text = page === undefined ? `${what} (${clause})` : `page ${page}: ${what} (${clause})`;
    if (this.#known.has(text) || this.#list.length >= MAX_FINDINGS) return;
    this.#known.add(text);
    this.#list.push({ rules, clause, text });
  }

  /** The findings against any of the rules, each as a text. */
  against(rules: readonly RuleSet[]): readonly string[] {
    return this.#list.filter((each) => rules.includes(each.rules)).map(({ text }) => text);
  }
}
