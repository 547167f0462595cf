/** A draft with the one that it took the place of. */
export interface Edited<Draft> {
  readonly draft: Draft;
  /** What another one took the place of. */
  readonly before?: Draft;
  /** Counts those that took the place of another: editors keep their own text, and begin again with each. */
  readonly number: number;
}

export const withPart = <Draft extends object>(
  edited: Edited<Draft>,
  part: Partial<Draft>,
): Edited<Draft> => ({ ...edited, draft: { ...edited.draft, ...part } });

/** @param keepsTexts the part has no text that an editor shows */
export const replacedBy = <Draft extends object>(
  { draft, number }: Edited<Draft>,
  part: Partial<Draft>,
  keepsTexts = false,
): Edited<Draft> => ({
  draft: { ...draft, ...part },
  before: draft,
  number: keepsTexts ? number : number + 1,
});

/** The draft before comes back whole: a part of each would be a request that nobody wrote. */
export const broughtBack = <Draft extends object>(edited: Edited<Draft>): Edited<Draft> => {
  const { draft, before, number } = edited;
  return before === undefined ? edited : { draft: before, before: draft, number: number + 1 };
};
