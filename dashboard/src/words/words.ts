/**
 * The words of the pages. English stands where it is shown, and is the key under which another language has its own in its
 * catalogue. What a catalogue lacks is shown in English. The language is chosen before the first word is asked for, so
 * another choice loads the pages again.
 */
import { kept } from '../ui/kept.ts';

/** The languages, each by its own name, with what a person should know before they choose it. */
export const LANGUAGES = { en: 'English', de: 'Deutsch (maschinell)' } as const;
export type Language = keyof typeof LANGUAGES;

const chosen = kept.read('language') ?? '';
export const language: Language = Object.hasOwn(LANGUAGES, chosen) ? (chosen as Language) : 'en';
/** For numbers and dates. */
export const LOCALE = { en: 'en-GB', de: 'de-DE' }[language];

type Catalogue = Readonly<Record<string, string>>;
const CATALOGUES: Readonly<Record<Language, () => Promise<Catalogue>>> = {
  en: () => Promise.resolve({}),
  de: async () => (await import('./de.json', { with: { type: 'json' } })).default,
};
const catalogue = await CATALOGUES[language]().catch((): Catalogue => ({}));

/** A text in the language of the pages, with its `{name}` still in it. */
export const translated = (text: string): string => catalogue[text] ?? text;

/**
 * A text in the language of the pages.
 * @param text in English, as a literal: the check of the catalogues reads it in the source
 * @param values take the place of `{name}`
 */
export const t = (text: string, values: Readonly<Record<string, unknown>> = {}): string =>
  translated(text).replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
