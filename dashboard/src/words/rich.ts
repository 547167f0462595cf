/** Texts with elements in them. Plain ones are in `words.ts`, which tests in Node read without React. */
import { cloneElement, createElement, Fragment, isValidElement, type ReactNode } from 'react';
import { translated } from './words.ts';

const PART = /\{(\w+)\}|<(\w+)>(.*?)<\/\2>/g;

/**
 * A text in the language of the pages.
 * @param text in English, as for `t`
 * @param values take the place of `{name}`; an element gets what stands between `<name>` and `</name>`
 */
export function rich(text: string, values: Readonly<Record<string, ReactNode>>): ReactNode {
  const whole = translated(text);
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { index, 0: part, 1: value, 2: element = '', 3: inner } of whole.matchAll(PART)) {
    parts.push(whole.slice(end, index));
    const given = values[value ?? element];
    parts.push(
      isValidElement(given) && inner !== undefined ? cloneElement(given, {}, inner) : given,
    );
    end = index + part.length;
  }
  return createElement(Fragment, {}, ...parts, whole.slice(end));
}
