/** What a page finds around it: its medium and colours, its window, time zone and language. */
import { DEFAULT_VIEWPORT, type PrintOptions } from '../../domain/event-fields.ts';
import { CommandRefused, type Params } from '../browser/connection.ts';
import { PageFailure } from '../browser/failure.ts';
import type { Tab } from './tab.ts';

/** The most that a window is made tall, and the most pixels of the screen that it has then. */
const MAX_TALL = 24_000;
const MAX_TALL_PIXELS = 32_000_000;

type Media = Params<'Emulation.setEmulatedMedia'>;

/** The medium that Chrome is told, with the colours that the page prefers; an empty name is that of Chrome itself. */
export const mediaOf = (
  media: 'print' | 'screen' | '',
  scheme?: PrintOptions['color_scheme'],
): Media => ({
  media,
  ...(scheme && { features: [{ name: 'prefers-color-scheme', value: scheme }] }),
});

/**
 * Must come before the document. What is not the default holds as long as the tab, which is not used again then.
 * @throws {ChromeGone} when the tab does not answer
 * @throws {PageFailure} when this Chrome does not know the time zone or language
 */
export async function surround(tab: Tab, options: PrintOptions): Promise<void> {
  const { media, color_scheme, viewport, javascript } = options;
  const { timezone, locale } = placeOf(options);
  await tab.ping('Emulation.setEmulatedMedia', mediaOf(media));
  if (color_scheme) await tab.emulate('Emulation.setEmulatedMedia', mediaOf(media, color_scheme));
  if (viewport) await tab.emulate('Emulation.setDeviceMetricsOverride', windowOf(viewport));
  if (timezone !== undefined) {
    const set = tab.emulate('Emulation.setTimezoneOverride', { timezoneId: timezone });
    await known(set, `the time zone ${timezone}`);
  }
  if (locale !== undefined) {
    await known(tab.emulate('Emulation.setLocaleOverride', { locale }), `the language ${locale}`);
    // Extensions, such as another calendar, are for `Intl` alone.
    const acceptLanguage = new Intl.Locale(locale).baseName;
    await tab.emulate('Emulation.setUserAgentOverride', { userAgent: '', acceptLanguage });
  }
  if (!javascript) await tab.emulate('Emulation.setScriptExecutionDisabled', { value: true });
}

/** The reader's place, where it is not that of the machine. */
function placeOf({ timezone, locale, deterministic }: PrintOptions) {
  if (!deterministic) return { timezone, locale };
  return { timezone: timezone ?? 'UTC', locale: locale ?? 'en-US' };
}

async function known(set: Promise<void>, what: string): Promise<void> {
  try {
    await set;
  } catch (cause) {
    if (!(cause instanceof CommandRefused)) throw cause;
    throw new PageFailure('renderer_failed', `Chrome does not know ${what}.`, { cause });
  }
}

type Window = NonNullable<PrintOptions['viewport']>;
type Metrics = Params<'Emulation.setDeviceMetricsOverride'>;

const windowOf = ({ width, height, device_scale_factor }: Window): Metrics => ({
  width,
  height,
  deviceScaleFactor: device_scale_factor,
  mobile: false,
});

/** What a window without a viewport of its own has stays as it is. */
const OWN: Metrics = { width: 0, height: 0, deviceScaleFactor: 0, mobile: false };

/** The most that a window is made tall, in CSS pixels. */
export function mostTall({ width, device_scale_factor }: Window = DEFAULT_VIEWPORT): number {
  return Math.min(MAX_TALL, Math.floor(MAX_TALL_PIXELS / (width * device_scale_factor ** 2)));
}

/** Gives the window another size. What is left out stays as it is. */
export async function setWindow(
  tab: Tab,
  size: { readonly width?: number; readonly height: number },
  viewport?: Window,
): Promise<void> {
  const metrics = viewport ? windowOf(viewport) : OWN;
  await tab.send('Emulation.setDeviceMetricsOverride', { ...metrics, ...size });
}

/** Gives the window its own size back. */
export async function endWindow(tab: Tab, viewport: Window | undefined): Promise<void> {
  if (viewport) await tab.send('Emulation.setDeviceMetricsOverride', windowOf(viewport));
  else await tab.send('Emulation.clearDeviceMetricsOverride', undefined);
}
