/** From a request's body to what is accepted: every rule of `POST /pdf/`, applied at once. */
import type { Config } from '../../config.ts';
import type { PrintOptions } from '../../domain/events.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import { ServiceError } from '../../errors.ts';
import { refusalOfUrl } from '../../renderer/egress/policy.ts';
import { CONVERSION_REQUEST_FORMS, ConversionRequest } from '../schemas/conversion-request.ts';
import type { Issues } from '../schemas/issues.ts';
import { compile } from '../schemas/validate.ts';
import { hasElement } from './html.ts';
import { checkMargins, checkPageRanges } from './page.ts';
import { checkTemplate } from './templates.ts';
import { checkUrlOptions } from './url-options.ts';

export type RequestRules = Pick<Config, 'maxHtmlBytes' | 'allowPrivateNetwork' | 'egressPorts'>;

export interface CheckedRequest {
  readonly source: 'html' | 'url';
  readonly options: PrintOptions;
  /** What only the renderer may read. */
  readonly document: RequestDocument;
}

const check = compile(ConversionRequest, CONVERSION_REQUEST_FORMS);
const FIELDS = Object.keys(ConversionRequest.properties);

function printOptions(request: ConversionRequest): PrintOptions {
  return {
    page_size: request.page_size ?? 'A4',
    landscape: request.landscape ?? false,
    margin_top: request.margin_top ?? '1cm',
    margin_right: request.margin_right ?? '1cm',
    margin_bottom: request.margin_bottom ?? '1cm',
    margin_left: request.margin_left ?? '1cm',
    print_background: request.print_background ?? false,
    scale: request.scale ?? 1,
    ...(request.page_ranges === undefined ? {} : { page_ranges: request.page_ranges }),
    prefer_css_page_size: request.prefer_css_page_size ?? false,
    media: request.media ?? 'print',
    tagged: request.tagged ?? true,
    outline: request.outline ?? false,
    javascript: request.javascript ?? true,
  };
}

function requestDocument(request: ConversionRequest): RequestDocument {
  const { html, url, header_html, footer_html, wait_for, metadata, headers, cookies } = request;
  const parts = { html, url, header_html, footer_html, wait_for, metadata, headers, cookies };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
}

function checkSource(issues: Issues, body: object): 'html' | 'url' {
  const html = 'html' in body;
  if (html === 'url' in body) {
    const message = html
      ? 'html and url cannot be combined: give one of them.'
      : 'Either html or url is required.';
    issues.add('html', message);
    issues.add('url', message);
  }
  return html ? 'html' : 'url';
}

function checkSize(body: object, maxHtmlBytes: number): void {
  if (!('html' in body) || typeof body.html !== 'string') return;
  if (Buffer.byteLength(body.html) <= maxHtmlBytes) return;
  const message = `Must have at most ${maxHtmlBytes} bytes in UTF-8.`;
  throw new ServiceError('payload_too_large', `html: ${message}`, { details: { html: [message] } });
}

/** The fields that have their schema's shape, so that the other rules can judge them all the same. */
function withoutFaulty(body: object, issues: Issues): ConversionRequest {
  const names = new Set(FIELDS.filter((name) => !issues.concern(name)));
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.has(name)));
}

function checkHtml(issues: Issues, html: string): void {
  if (html.trim() === '') issues.add('html', 'Must not be blank.');
  else if (!hasElement(html)) {
    issues.add('html', 'Must be HTML with at least one element, such as <p>text</p>.');
  }
}

/**
 * Adds to `issues` all that is wrong with the body; what comes back is to be used only if nothing was.
 * @throws {ServiceError} `payload_too_large` where the HTML alone is too large
 */
export function checkConversionRequest(
  body: object,
  issues: Issues,
  rules: RequestRules,
): CheckedRequest {
  checkSize(body, rules.maxHtmlBytes);
  const source = checkSource(issues, body);
  check(body, issues);
  const request = withoutFaulty(body, issues);
  const options = printOptions(request);
  if (request.html !== undefined) checkHtml(issues, request.html);
  if (request.url !== undefined) {
    const refusal = refusalOfUrl(request.url, {
      allowPrivateNetwork: rules.allowPrivateNetwork,
      extraPorts: rules.egressPorts,
    });
    if (refusal !== undefined) issues.add('url', refusal);
  }
  if (request.page_ranges !== undefined) checkPageRanges(issues, request.page_ranges);
  for (const field of ['header_html', 'footer_html'] as const) {
    const template = request[field];
    if (template !== undefined) checkTemplate(issues, field, template);
  }
  checkMargins(issues, options);
  checkUrlOptions(issues, request, source);
  return { source, options, document: requestDocument(request) };
}
