/** The parameters that addresses of pages have. One may be typed by hand: what a page does not know is left out. */
import { given } from './api/client.ts';

type Read<Value> = (value: unknown) => Value | undefined;

export const oneOf =
  <const Value extends string | number | true>(values: readonly Value[]): Read<Value> =>
  (value) =>
    values.find((each) => String(each) === String(value));

export const textThat =
  (fits: (text: string) => boolean): Read<string> =>
  (value) =>
    typeof value === 'string' && fits(value) ? value : undefined;

export const anyText = textThat((text) => text.trim() !== '');

/** The first page needs no number. */
export const laterPage: Read<number> = (value) =>
  Number.isInteger(Number(value)) && Number(value) > 1 ? Number(value) : undefined;

/** Makes of parameters and what each may be the function that reads an address. */
export const searchOf =
  <Reads extends Readonly<Record<string, Read<unknown>>>>(reads: Reads) =>
  (search: Readonly<Record<string, unknown>>) =>
    given(
      Object.fromEntries(Object.entries(reads).map(([name, read]) => [name, read(search[name])])),
    ) as { readonly [Name in keyof Reads]?: Exclude<ReturnType<Reads[Name]>, undefined> };

export const pageSearch = searchOf({ page: laterPage });
