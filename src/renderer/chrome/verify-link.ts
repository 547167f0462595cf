/** The link to the page where anybody can check the PDF, as a QR code and as text in the bottom margin of each page. */
import encodeQR from 'qr';
import type { PrintOptions } from '../../domain/event-fields.ts';
import { lengthMillimetres } from '../../domain/page.ts';
import { htmlText } from '../../text/plain-text.ts';

/** The rest of the margin stays free, half above the code and half below. */
const FREE_MM = 2;
/** Larger ones are not read better. */
const LARGEST_MM = 14;
const GAP_MM = 1.5;
/** The widest that the text is: longer addresses take several lines. */
const TEXT_MM = 36;
const FREE_BESIDE_MM = 3;

export interface VerifyLink {
  /** HTML that stands first in a footer. Its elements have the class of what is not the template's own. */
  readonly html: string;
  /** A style sheet that keeps the rest of the footer off it. */
  readonly css: string;
}

/** Style sheets of a footer may have rules for all elements: these go before them. */
const styleOf = (rules: Readonly<Record<string, string>>): string =>
  Object.entries({ all: 'initial', ...rules })
    .map(([name, value]) => `${name}:${value}!important`)
    .join(';');

/** @param isLink false for PDFs whose links need tags: those of a footer have none */
export function verifyLink(url: string, options: PrintOptions, isLink: boolean): VerifyLink {
  const marginMm = lengthMillimetres(options.margin_bottom);
  const sizeMm = Math.min(marginMm - FREE_MM, LARGEST_MM);
  // With a border of its own, for a page may have a background there.
  const svg = encodeQR(url, 'svg', { ecc: 'low', border: 2 });
  const white = svg.replace(/(<svg[^>]*>)/, '$1<rect width="100%" height="100%" fill="#fff"/>');
  const image = `data:image/svg+xml;base64,${Buffer.from(white).toString('base64')}`;
  const text = htmlText(url);
  const block = styleOf({
    position: 'absolute',
    right: options.margin_right,
    bottom: `${(marginMm - sizeMm) / 2}mm`,
    display: 'flex',
    'align-items': 'center',
    gap: `${GAP_MM}mm`,
  });
  const words = styleOf({
    'max-width': `${TEXT_MM}mm`,
    font: '6pt/1.3 sans-serif',
    color: '#000',
    'text-align': 'right',
    'overflow-wrap': 'anywhere',
  });
  const side = styleOf({ width: `${sizeMm}mm`, height: `${sizeMm}mm`, flex: 'none' });
  const tag = isLink ? 'a' : 'span';
  const code = `<img class=default alt="" src="${image}" style="${side}">`;
  const linked = isLink ? ` href="${text}"` : '';
  const takenMm = sizeMm + GAP_MM + TEXT_MM + FREE_BESIDE_MM;
  return {
    html: `<${tag} class=default${linked} style="${block}"><span class=default style="${words}">${text}</span>${code}</${tag}>`,
    css: `#footer{box-sizing:border-box!important;padding-right:calc(${options.margin_right} + ${takenMm}mm)!important}`,
  };
}
