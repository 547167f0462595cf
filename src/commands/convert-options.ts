/** The conversion options as flags of `convert`. */
import { PAGE_SIZES } from '../domain/choices.ts';
import { SHORTCOMINGS } from '../domain/request-document.ts';
import { choiceOf, type Invocation, type OptionSpec, UsageError } from './command.ts';
import type { PrintOptions } from './service.ts';

interface Flag extends OptionSpec {
  /** Puts the flag's value where the request wants it. */
  readonly apply: (value: string, options: PrintOptions) => void;
}

const flag = (name: keyof PrintOptions, help: string): Flag => ({
  help,
  apply: (_, options) => Object.assign(options, { [name]: true }),
});
const off = (name: keyof PrintOptions, help: string): Flag => ({
  help,
  apply: (_, options) => Object.assign(options, { [name]: false }),
});
const text = (name: keyof PrintOptions, kind: string, help: string): Flag => ({
  value: kind,
  help,
  apply: (value, options) => Object.assign(options, { [name]: value }),
});
const choice = (name: keyof PrintOptions, kind: string, choices: readonly string[]): Flag => ({
  value: kind,
  help: `${choices.join(', ')} (default ${choices[0] ?? ''})`,
  choices,
  apply: (value, options) => Object.assign(options, { [name]: choiceOf(value, choices) ?? value }),
});

function numberOf(value: string, name: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) {
    throw new UsageError(`--${name} must be a number.`);
  }
  return number;
}

function jsonOf(value: string, name: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new UsageError(`--${name} must be JSON.`);
  }
}

const margin = (name: 'margin_top' | 'margin_right' | 'margin_bottom' | 'margin_left'): Flag =>
  text(name, 'length', 'such as 1cm, 10mm, 0.5in or 40px (default 1cm)');

const PAGE: Readonly<Record<string, Flag>> = {
  'page-size': choice('page_size', 'size', PAGE_SIZES),
  landscape: flag('landscape', 'landscape orientation'),
  'margin-top': margin('margin_top'),
  'margin-right': margin('margin_right'),
  'margin-bottom': margin('margin_bottom'),
  'margin-left': margin('margin_left'),
  'print-background': flag('print_background', 'print background colours and images'),
  scale: {
    value: 'number',
    help: '0.1 to 2 (default 1)',
    apply: (value, options) => {
      options.scale = numberOf(value, 'scale');
    },
  },
  'page-ranges': text('page_ranges', 'ranges', 'pages to print, such as 1-3,5 (default all)'),
  'header-html': text('header_html', 'html', 'template printed at the top of each page'),
  'footer-html': text('footer_html', 'html', 'template printed at the bottom of each page'),
  'prefer-css-page-size': flag('prefer_css_page_size', "use the document's own @page size"),
};

const PDF: Readonly<Record<string, Flag>> = {
  filename: text('filename', 'name', 'the name of the PDF where it is downloaded'),
  'no-tagged': off('tagged', 'leave out the accessibility tags'),
  outline: flag('outline', 'make bookmarks from the headings'),
  metadata: {
    value: 'json',
    help: 'such as {"title":"Invoice","author":"Ann","keywords":["a"]}',
    apply: (value, options) => Object.assign(options, { metadata: jsonOf(value, 'metadata') }),
  },
};

const LOADING: Readonly<Record<string, Flag>> = {
  media: choice('media', 'media', ['print', 'screen']),
  'no-javascript': off('javascript', 'do not run scripts'),
  'wait-for-selector': {
    value: 'selector',
    help: 'wait until an element matches this CSS selector',
    apply: (value, options) => {
      options.wait_for = { ...options.wait_for, selector: value };
    },
  },
  'wait-for-delay-ms': {
    value: 'ms',
    help: 'wait this many milliseconds, at most 10000',
    apply: (value, options) => {
      options.wait_for = {
        ...options.wait_for,
        delay_ms: numberOf(value, 'wait-for-delay-ms'),
      };
    },
  },
  'wait-for-network-idle': {
    help: 'wait until the network is quiet',
    apply: (_, options) => {
      options.wait_for = { ...options.wait_for, network_idle: true };
    },
  },
  'budget-ms': {
    value: 'ms',
    help: "time of the page's own in which its scripts may end what they draw, at most 60000; default: 5000",
    apply: (value, options) => {
      options.wait_for = { ...options.wait_for, budget_ms: numberOf(value, 'budget-ms') };
    },
  },
  'fail-on': {
    value: 'list',
    help: `fail if the page lacks something: ${SHORTCOMINGS.join(',')}`,
    apply: (value, options) => Object.assign(options, { fail_on: value.split(',') }),
  },
  headers: {
    value: 'json',
    help: 'request headers for a URL, such as {"Accept-Language":"fr"}',
    apply: (value, options) => Object.assign(options, { headers: jsonOf(value, 'headers') }),
  },
  cookies: {
    value: 'json',
    help: 'cookies for a URL, such as [{"name":"session","value":"s1"}]',
    apply: (value, options) => Object.assign(options, { cookies: jsonOf(value, 'cookies') }),
  },
};

const FLAGS: Readonly<Record<string, Flag>> = { ...PAGE, ...PDF, ...LOADING };

const below = (heading: string, flags: Readonly<Record<string, Flag>>) =>
  Object.entries(flags).map(([name, spec]) => [name, { ...spec, heading }] as const);

export const CONVERT_FLAGS: Readonly<Record<string, OptionSpec>> = Object.fromEntries([
  ...below('Page:', PAGE),
  ...below('PDF:', PDF),
  ...below('Loading:', LOADING),
]);

/** The request options that the flags ask for; whether they are valid is the service's to say. */
export function conversionOptions(invocation: Invocation): PrintOptions {
  const options: PrintOptions = {};
  for (const [name, { apply }] of Object.entries(FLAGS)) {
    const value = invocation.values[name];
    if (value !== undefined) apply(String(value), options);
  }
  return options;
}
