/** Stamps are printed first, as documents of their own that can load nothing. */
import { DEFAULT_OPTIONS, type PrintOptions } from '../../domain/event-fields.ts';
import type { RequestDocument, Stamp } from '../../domain/request-document.ts';

/** Without margins and tags: a stamp is no part of the text. Its style sheet may choose the size of its page. */
export const STAMP_OPTIONS: PrintOptions = {
  ...DEFAULT_OPTIONS,
  margin_top: '0mm',
  margin_right: '0mm',
  margin_bottom: '0mm',
  margin_left: '0mm',
  print_background: true,
  prefer_css_page_size: true,
  tagged: false,
  javascript: false,
};

/** The stamps that a request asks for, in their order. */
export function stampsOf({ document, pdf }: RequestDocument): readonly Stamp[] {
  const steps = document?.steps ?? [];
  const own = pdf?.stamp === undefined ? [] : [pdf.stamp];
  return [...steps.filter((step) => step.type === 'stamp'), ...own];
}

/** The page that is printed of a stamp. */
export function stampPage({ html, image, opacity }: Stamp): string {
  const fade = opacity === undefined ? '' : `<style>html{opacity:${opacity}}</style>`;
  if (html !== undefined) return html + fade;
  const middle =
    '<style>html,body{margin:0;height:100%}body{display:grid;place-items:center}' +
    'img{max-width:100%;max-height:100%}</style>';
  // Chrome finds out by the content which kind of picture it is.
  return `<!doctype html>${middle}${fade}<img src="data:image/png;base64,${image ?? ''}">`;
}
