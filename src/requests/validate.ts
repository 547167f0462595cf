/**
 * Every rule of the body of `POST /pdf/`: the schema judges its shape, the checks here all else. Fills in the defaults, and
 * parts the options into those of the event and those that are encrypted with the document.
 */
import type { Config } from '../config/config.ts';
import {
  DEFAULT_OPTIONS,
  PrintOptions,
  type RequestMarks,
  type RequestTexts,
} from '../domain/event-fields.ts';
import type { RequestDocument } from '../domain/request-document.ts';
import { judgeUrl } from '../egress/policy.ts';
import { fieldError } from '../errors/errors.ts';
import { bodyOfForm, checkFiles, FormBody } from './files.ts';
import { checkTemplate, hasElement } from './html.ts';
import { checkTags, requestTexts } from './names.ts';
import { checkPaper, surroundings } from './page.ts';
import {
  checkPageRanges,
  checkPdf,
  checkVerifyLink,
  isSigned,
  pdfRequest,
  type SigningRule,
} from './pdf.ts';
import { CONVERSION_REQUEST_FORMS, ConversionRequest } from './schema.ts';
import { checkUrlOptions } from './url.ts';
import { compile, type ValidationIssues } from './validation.ts';
import {
  addRefusal,
  checkWebhookUrl,
  NO_WEBHOOK_SECRET,
  type WebhookUrlRules,
} from './webhooks.ts';
import { sizeText } from '../text/size.ts';

export type RequestRules = WebhookUrlRules &
  Pick<Config, 'maxHtmlBytes' | 'retentionSeconds'> & {
    /** The page where anybody can check a PDF; absent where this is not offered. */
    readonly verifyUrl?: string;
    /** Who signs, or why nobody does. */
    readonly signing?: SigningRule;
    /** Nothing can sign what a webhook_url is sent: the account has no default secret. */
    readonly lacksWebhookSecret?: boolean;
  };

export interface CheckedRequest {
  readonly source: 'html' | 'url';
  readonly options: PrintOptions;
  /** Of the event, to be sealed. */
  readonly texts: RequestTexts;
  /** Of the event, as they are. */
  readonly marks: RequestMarks;
  /** Content that only the renderer may read. */
  readonly document: RequestDocument;
}

const check = compile(ConversionRequest, CONVERSION_REQUEST_FORMS);

function printOptions(request: ConversionRequest): PrintOptions {
  const names = Object.keys(PrintOptions.properties) as readonly (keyof PrintOptions)[];
  const given = names.filter((name) => request[name] !== undefined);
  const isPicture = request.format !== undefined && request.format !== 'pdf';
  return {
    ...DEFAULT_OPTIONS,
    ...(isPicture && { media: 'screen' }),
    ...Object.fromEntries(given.map((name) => [name, request[name]])),
  };
}

function requestDocument(request: ConversionRequest): RequestDocument {
  const { html, files, url, header_html, footer_html, css, wait_for, metadata } = request;
  const { headers, cookies, fail_on } = request;
  const pdf = pdfRequest(request.pdf);
  const content = { html, files, url, header_html, footer_html, css, wait_for, metadata };
  const parts = { ...content, headers, cookies, fail_on, pdf };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
}

function checkSource(issues: ValidationIssues, body: object): 'html' | 'url' {
  const html = 'html' in body && body.html !== null;
  const url = 'url' in body && body.url !== null;
  if (html === url) {
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
  const mostBytes = body.html.length * 3;
  if (mostBytes <= maxHtmlBytes || Buffer.byteLength(body.html) <= maxHtmlBytes) return;
  const message = `Must have at most ${sizeText(maxHtmlBytes)} in UTF-8.`;
  throw fieldError('html', message, { code: 'payload_too_large' });
}

/** The fields that have their schema's shape, so that the other rules can judge them all the same. */
function withoutFaulty(given: ConversionRequest, issues: ValidationIssues): ConversionRequest {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !issues.has(name)));
}

function checkHtml(issues: ValidationIssues, html: string): void {
  if (html.trim() === '') issues.add('html', 'Must not be blank.');
  else if (!hasElement(html)) {
    issues.add('html', 'Must be HTML with at least one element, such as <p>text</p>.');
  }
}

/**
 * Adds to `issues` all that is wrong with the body; what comes back is to be used only if nothing was.
 * @param sent the JSON object or `FormBody`
 * @throws {ServiceError} `payload_too_large` where the HTML alone is too large
 */
export function checkConversionRequest(
  sent: object,
  issues: ValidationIssues,
  rules: RequestRules,
): CheckedRequest {
  const body =
    sent instanceof FormBody ? bodyOfForm(sent, ConversionRequest.properties, issues) : sent;
  checkSize(body, rules.maxHtmlBytes);
  const source = checkSource(issues, body);
  const shaped = check(body, issues);
  checkTags(issues, shaped.tags);
  const request = withoutFaulty(shaped, issues);
  const options = { ...printOptions(request), ...surroundings(issues, request) };
  if (request.html !== undefined) checkHtml(issues, request.html);
  if (request.url !== undefined) {
    const refusal = judgeUrl(request.url, {
      allowPrivateNetwork: rules.allowPrivateNetwork,
      extraPorts: rules.egressPorts,
    });
    if (refusal !== undefined) addRefusal(issues, 'url', refusal, rules);
  }
  if (request.page_ranges !== undefined) {
    checkPageRanges(issues, 'page_ranges', request.page_ranges);
  }
  checkPaper(issues, request, options);
  for (const field of ['header_html', 'footer_html'] as const) {
    const template = request[field];
    if (template !== undefined) checkTemplate(issues, field, template);
  }
  if (request.deterministic_time !== undefined) checkTime(issues, request);
  if (request.headers ?? request.cookies) checkUrlOptions(issues, request, source);
  if (request.pdf !== undefined) checkPdf(issues, request.pdf, options, rules.signing);
  const isLinked = request.pdf?.verify_link === true;
  if (isLinked) checkVerifyLink(issues, options, rules.verifyUrl !== undefined);
  if (request.files !== undefined) checkFiles(issues, request.files, source);
  const { webhook_url: webhookUrl, retention_seconds: retentionSeconds } = request;
  if (retentionSeconds !== undefined && retentionSeconds > rules.retentionSeconds) {
    const message = `Must be at most ${rules.retentionSeconds}: the account's documents are kept no longer.`;
    issues.add('retention_seconds', message);
  }
  if (webhookUrl !== undefined && rules.lacksWebhookSecret === true) {
    issues.add('webhook_url', NO_WEBHOOK_SECRET);
  }
  return {
    source,
    options,
    texts: {
      ...requestTexts(issues, request),
      ...(webhookUrl !== undefined && {
        webhookUrl: checkWebhookUrl(issues, 'webhook_url', webhookUrl, rules),
      }),
    },
    marks: {
      ...(request.priority === 'low' && { priority: request.priority }),
      ...(retentionSeconds !== undefined && { retentionSeconds }),
      ...(isSigned(request.pdf) && rules.signing?.by && { signedBy: rules.signing.by }),
      ...(request.pdf !== undefined && { worksOnPdf: true as const }),
    },
    document: {
      ...requestDocument(request),
      ...(isLinked && rules.verifyUrl !== undefined && { verify_url: rules.verifyUrl }),
    },
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

function checkTime(issues: ValidationIssues, request: ConversionRequest): void {
  const { deterministic, deterministic_time: time = '' } = request;
  const form = 'Must be a time with its time zone, such as 2026-11-26T12:00:00Z.';
  const at = TIME.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at) || at < 0 || new Date(at).getUTCFullYear() > 9999) {
    issues.add('deterministic_time', form);
  }
  if (deterministic !== true) {
    issues.add('deterministic_time', 'Needs deterministic: set that to true.');
  }
}
