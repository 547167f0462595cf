/** What a signature shows on its page: printed first, as a document of its own, so that every script is set well. */
import type { PrintOptions } from '../../domain/event-fields.ts';
import { lengthPoints } from '../../domain/page.ts';
import type { SignatureField, SignatureTexts } from '../../domain/request-document.ts';
import { htmlText, plainText } from '../../text/plain-text.ts';
import type { FieldPlace } from '../../pdf/signature-field.ts';
import { STAMP_OPTIONS } from './stamps.ts';

/** A signature that can be seen. */
export interface ShownSignature {
  /** The name of who signs. */
  readonly signer: string;
  readonly time: Date;
  readonly texts: SignatureTexts;
}

/** Points. Nobody can read smaller letters on paper. */
const SIZES = { largest: 12, smallest: 4 } as const;

/** `2026-11-24 18:17:39 UTC`, in no language. */
const timeText = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const present = (texts: readonly (string | undefined)[]): readonly string[] =>
  texts.filter((text) => text !== undefined && text !== '') as readonly string[];

/** Without labels, which would be in one language. */
export const shownText = ({ signer, time, texts: { reason, location } }: ShownSignature): string =>
  present([signer, timeText(time), reason, location])
    .map(plainText)
    .join(', ');

/** The size of the picture is that of the field. */
export const fieldOptions = ({ width, height }: SignatureField): PrintOptions => ({
  ...STAMP_OPTIONS,
  width,
  height,
  prefer_css_page_size: false,
  // The script is ours; the texts are text.
  javascript: true,
});

/**
 * Chooses the largest letters that fit: words are broken only where they do not fit in any other size. What does not fit at
 * all is more than a page.
 */
const FIT = `
const text = document.querySelector('main');
const { clientHeight: height } = document.querySelector('aside');
const fits = (size) => {
  text.style.fontSize = size + 'pt';
  return text.scrollWidth <= text.clientWidth && text.offsetHeight <= height * 0.97;
};
const sizes = [];
for (let size = ${SIZES.largest}; size >= ${SIZES.smallest}; size -= 0.25) sizes.push(size);
const fit = (style) => {
  text.style.overflowWrap = style;
  return sizes.some(fits);
};
if (fit('normal') || fit('anywhere')) {
  text.style.paddingTop = Math.max(0, (height - text.offsetHeight) / 2) + 'px';
}`;

/** The page that is printed of a signature. */
export function fieldPage(shown: ShownSignature, { width, height }: SignatureField): string {
  const { signer, time, texts } = shown;
  const others = present([texts.reason, texts.location]).map(
    (each) => `<p dir=auto>${htmlText(each)}`,
  );
  // The time is on the side of the name, and is written from the left.
  const lines = `<p>${htmlText(signer)}<p><bdi dir=ltr>${timeText(time)}</bdi>${others.join('')}`;
  const style =
    'html,body,p{margin:0}' +
    // Letters are as wide on paper as they are measured.
    'html{text-rendering:geometricPrecision;font-family:sans-serif;line-height:1.2}' +
    `aside,body{width:${width};height:${height}}` +
    'aside{position:absolute;inset:0;box-sizing:border-box;border:.5pt solid #666}' +
    `main{box-sizing:border-box;padding:0 .5em;font-size:${SIZES.smallest}pt;overflow-wrap:anywhere}` +
    'p:first-child{font-weight:bold}';
  return `<!doctype html><meta charset=utf-8><style>${style}</style><aside></aside><main dir=auto>${lines}</main><script>${FIT}</script>`;
}

export const fieldPlace = ({ page, x, y, width, height }: SignatureField): FieldPlace => ({
  page,
  x: lengthPoints(x),
  y: lengthPoints(y),
  width: lengthPoints(width),
  height: lengthPoints(height),
});

export const DOES_NOT_FIT =
  'The name of the signer, the time, the reason and the location do not fit into the field of the signature. Make ' +
  'pdf.sign.field larger, or the texts shorter.';
