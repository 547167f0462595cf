/** Many servers repeat the address in their error pages, and its query may be a secret. */

/** A shorter value is no secret, and may be a part of any text. */
const SHORTEST_SECRET = 6;

/** Makes `…` of what the answer to a request repeats of the values in the query of its address, encoded or not. */
export function withoutRepeatedQuery(text: string, { search, searchParams }: URL): string {
  const asSent = search
    .slice(1)
    .split('&')
    .map((part) => part.replace(/^[^=]*=(?=.)/su, ''));
  const decoded = [...searchParams].map(([name, value]) => (value === '' ? name : value));
  return [...new Set([...asSent, ...decoded])]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, value) => shown.replaceAll(value, '…'), text);
}
