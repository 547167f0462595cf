/**
 * A resource that a page was printed without. Records and stored events have its sentence alone, so that what writes the
 * sentence and what reads it stand together.
 */
export interface LackingResource {
  /** Without white space. */
  readonly url: string;
  /** The status of its answer, or why there is none, without a full stop at the end. */
  readonly reason: number | string;
}

const FORM = /^(\S+) (?:could not be loaded: (.*?)|was answered with status (\d+))[.…]?$/s;

export const lackingInWords = ({ url, reason }: LackingResource): string =>
  typeof reason === 'number'
    ? `${url} was answered with status ${reason}.`
    : `${url} could not be loaded: ${reason}.`;

/** @returns undefined for a warning about something else */
export function lackingIn(warning: string): LackingResource | undefined {
  const [, url, reason, status] = FORM.exec(warning) ?? [];
  return url === undefined ? undefined : { url, reason: reason ?? Number(status) };
}
