/** Filters that documents need beside those of Liquid: money, numbers and dates as people of a language write them. */

const DEFAULT_LOCALE = 'en';
const DATE_STYLES: ReadonlySet<unknown> = new Set(['full', 'long', 'medium', 'short']);

/** @throws {Error} what the writer of the template reads */
function numberOf(value: unknown, filter: string): number {
  const given = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof given === 'number' && Number.isFinite(given)) return given;
  throw new Error(`${filter} needs a number, and its value is ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'missing';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return JSON.stringify(value)?.slice(0, 40) ?? typeof value;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : kindOf(value));

function localeOf(locale: unknown): string {
  const asked = locale === undefined ? DEFAULT_LOCALE : textOf(locale);
  try {
    const [known] = Intl.NumberFormat.supportedLocalesOf(asked);
    if (known !== undefined) return known;
  } catch {
    // It is not of the form of BCP 47.
  }
  throw new Error(`there is no language ${asked}: name one such as de-CH`);
}

/** `{{ 1234.5 | money: "EUR", "de-DE" }}` is `1.234,50 €`. */
export function money(value: unknown, currency: unknown, locale: unknown): string {
  const amount = numberOf(value, 'money');
  const code = textOf(currency);
  if (!/^[A-Za-z]{3}$/.test(code)) {
    throw new Error('money needs a currency of three letters, such as money: "EUR"');
  }
  return new Intl.NumberFormat(localeOf(locale), { style: 'currency', currency: code }).format(
    amount,
  );
}

/** `{{ 1234.5 | number: "de-DE", 2 }}` is `1.234,50`. Without digits, it has as many as the number. */
export function number(value: unknown, locale: unknown, digits: unknown): string {
  const given = digits === undefined ? undefined : numberOf(digits, 'number');
  if (given !== undefined && (!Number.isInteger(given) || given < 0 || given > 20)) {
    throw new Error('number takes 0 to 20 digits');
  }
  return new Intl.NumberFormat(localeOf(locale), {
    minimumFractionDigits: given ?? 0,
    maximumFractionDigits: given ?? 20,
  }).format(numberOf(value, 'number'));
}

/**
 * `{{ "2026-11-27" | local_date: "de-CH", "long" }}` is `27. November 2026`. A date without a time is that day
 * everywhere; a time is shown in the time zone, UTC unless one is given.
 */
export function localDate(value: unknown, locale: unknown, style: unknown, zone: unknown): string {
  const text = textOf(value);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw new Error(
      `local_date needs a date such as 2026-11-27, and its value is ${kindOf(value)}`,
    );
  }
  const dateStyle = style ?? 'medium';
  if (!DATE_STYLES.has(dateStyle)) {
    throw new Error(`local_date takes ${[...DATE_STYLES].join(', ')}`);
  }
  const timeZone = isDay || zone === undefined ? 'UTC' : textOf(zone);
  try {
    const options = { dateStyle: dateStyle as 'long', timeZone };
    return new Intl.DateTimeFormat(localeOf(locale), options).format(at);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(`there is no time zone ${timeZone}: name one such as Europe/Zurich`, {
      cause: error,
    });
  }
}
