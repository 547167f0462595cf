/** Plain puppeteer, as people use it: the reference for what the service prints. */
import puppeteer from 'puppeteer';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import { inches, lengthMillimetres, sheetMillimetres } from '../../src/domain/page.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { chromeFlags } from '../../src/renderer/browser/flags.ts';
import { installedChrome } from './renderer.ts';

/** Flags of ours that change pictures: the reference has the same ones. */
const CHANGE_PICTURES =
  /^--(?:font-render-hinting|hide-scrollbars|force-color-profile|disable-gpu)/;
const NO_TEMPLATE = '<span></span>';

const margin = (length: string): string => `${inches(lengthMillimetres(length))}in`;

export interface PlainPuppeteer {
  /** Prints in a browser context of its own, when the document has loaded and has its fonts. */
  print(
    request: Pick<RequestDocument, 'html' | 'header_html' | 'footer_html'>,
    options: PrintOptions,
  ): Promise<Buffer>;
  close(): Promise<void>;
}

export async function startPlainPuppeteer(): Promise<PlainPuppeteer> {
  const flags = chromeFlags({ sandbox: false });
  const browser = await puppeteer.launch({
    executablePath: await installedChrome(),
    headless: 'shell',
    args: ['--no-sandbox', ...flags.filter((flag) => CHANGE_PICTURES.test(flag))],
  });
  const print: PlainPuppeteer['print'] = async (request, options) => {
    const { html = '', header_html, footer_html } = request;
    const context = await browser.createBrowserContext();
    try {
      const page = await context.newPage();
      await page.setJavaScriptEnabled(options.javascript);
      if (options.media === 'screen') await page.emulateMediaType('screen');
      await page.setContent(html, { waitUntil: 'load' });
      if (options.javascript) await page.evaluate('document.fonts.ready.then(() => {})');
      const [width, height] = sheetMillimetres(options);
      const pdf = await page.pdf({
        width: `${inches(width)}in`,
        height: `${inches(height)}in`,
        margin: {
          top: margin(options.margin_top),
          right: margin(options.margin_right),
          bottom: margin(options.margin_bottom),
          left: margin(options.margin_left),
        },
        printBackground: options.print_background,
        scale: options.scale,
        preferCSSPageSize: options.prefer_css_page_size,
        tagged: options.tagged || options.outline,
        outline: options.outline,
        ...(options.page_ranges === undefined ? {} : { pageRanges: options.page_ranges }),
        displayHeaderFooter: header_html !== undefined || footer_html !== undefined,
        headerTemplate: header_html ?? NO_TEMPLATE,
        footerTemplate: footer_html ?? NO_TEMPLATE,
      });
      return Buffer.from(pdf);
    } finally {
      await context.close();
    }
  };
  return { print, close: () => browser.close() };
}
