/** The conversion options as flags of `convert`. */
import type { PrintOptions } from '../../client/src/types.ts';
import { PAGE_SIZES } from '../domain/events.ts';
import { choiceOf, type Invocation, type OptionSpec, UsageError } from './command.ts';

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

const FLAGS: Readonly<Record<string, Flag>> = {
  'page-size': choice('page_size', 'size', PAGE_SIZES),
  landscape: flag('landscape', 'landscape orientation'),
  'margin-top': text('margin_top', 'length', 'such as 1cm, 10mm, 0.5in or 40px'),
  'margin-right': text('margin_right', 'length', 'likewise'),
  'margin-bottom': text('margin_bottom', 'length', 'likewise'),
  'margin-left': text('margin_left', 'length', 'likewise'),
  'print-background': flag('print_background', 'print background colours and images'),
  scale: {
    value: 'number',
    help: '0.1 to 2',
    apply: (value, options) => {
      options.scale = numberOf(value, 'scale');
    },
  },
  'page-ranges': text('page_ranges', 'ranges', 'such as 1-3,5'),
  'header-html': text('header_html', 'html', 'template printed at the top of each page'),
  'footer-html': text('footer_html', 'html', 'template printed at the bottom of each page'),
  'prefer-css-page-size': flag('prefer_css_page_size', "the document's own @page size wins"),
  media: choice('media', 'media', ['print', 'screen']),
  'no-tagged': off('tagged', 'leave out the accessibility tags'),
  outline: flag('outline', 'make bookmarks of the headings'),
  'no-javascript': off('javascript', 'do not run scripts'),
  'wait-for-selector': {
    value: 'selector',
    help: 'wait until an element matches',
    apply: (value, options) => {
      options.wait_for = { ...options.wait_for, selector: value };
    },
  },
  'wait-for-delay-ms': {
    value: 'ms',
    help: 'wait that long, at most 10000',
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
  metadata: {
    value: 'json',
    help: 'JSON: {"title","author","subject","keywords":[]}',
    apply: (value, options) => Object.assign(options, { metadata: jsonOf(value, 'metadata') }),
  },
  headers: {
    value: 'json',
    help: 'JSON: request headers for a URL',
    apply: (value, options) => Object.assign(options, { headers: jsonOf(value, 'headers') }),
  },
  cookies: {
    value: 'json',
    help: 'JSON: cookies for a URL',
    apply: (value, options) => Object.assign(options, { cookies: jsonOf(value, 'cookies') }),
  },
};

export const CONVERT_FLAGS: Readonly<Record<string, OptionSpec>> = FLAGS;

/** The request options that the flags ask for; whether they are valid is the service's to say. */
export function conversionOptions(invocation: Invocation): PrintOptions {
  const options: PrintOptions = {};
  for (const [name, { apply }] of Object.entries(FLAGS)) {
    const value = invocation.values[name];
    if (value !== undefined) apply(String(value), options);
  }
  return options;
}
