/** True if one letter added, left out or changed, or two swapped, turns one word into the other. */
function isOneSlipAway(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let before = 0;
  while (before < shorter && one[before] === other[before]) before += 1;
  let after = 0;
  while (after < shorter - before && one.at(-1 - after) === other.at(-1 - after)) after += 1;
  const [here, there] = [one, other].map((each) => each.slice(before, each.length - after));
  if (here === undefined || there === undefined) return false;
  if (here.length <= 1 && there.length <= 1) return true;
  return here.length === 2 && there === `${here[1]}${here[0]}`;
}

/** Finds the name that a word was meant to be: one slip away, or the only one that begins with it. */
export function suggest(word: string, names: readonly string[]): string | undefined {
  const slip = names.find((name) => isOneSlipAway(word, name));
  if (slip !== undefined) return slip;
  const longer = names.filter((name) => name.startsWith(word));
  return longer.length === 1 ? longer[0] : undefined;
}
