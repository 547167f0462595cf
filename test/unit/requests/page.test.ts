import { test } from 'tap';
import { DEFAULT_OPTIONS } from '../../../src/domain/event-fields.ts';
import { checkConversionRequest } from '../../../src/requests/validate.ts';
import { validated } from '../../../src/requests/validation.ts';

const RULES = {
  maxHtmlBytes: 1_000,
  allowPrivateNetwork: false,
  egressPorts: [],
  retentionSeconds: 1_000,
};
const checked = (body: object) =>
  validated((issues) => checkConversionRequest({ html: '<p>x</p>', ...body }, issues, RULES));

void test('surroundings are stored whole, under one name each', (t) => {
  t.strictSame(checked({}).options, DEFAULT_OPTIONS, 'a plain request has none');
  const { options, document } = checked({
    viewport: { width: 1280 },
    timezone: 'europe/zurich',
    locale: 'DE-ch',
    color_scheme: 'light',
    css: 'p { color: red }',
  });
  t.strictSame(options, {
    ...DEFAULT_OPTIONS,
    viewport: { width: 1280, height: 600, device_scale_factor: 1 },
    timezone: 'Europe/Zurich',
    locale: 'de-CH',
    color_scheme: 'light',
  });
  t.strictSame(
    document,
    { html: '<p>x</p>', css: 'p { color: red }' },
    'text of the client is not an option',
  );
  t.end();
});

const message = (body: object): string => {
  try {
    return JSON.stringify(checked(body));
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

void test('paper is named by a size or by its sides', (t) => {
  t.match(
    message({ width: '80mm' }),
    /^width: Goes with height, or with single_page: give one of them\.$/,
  );
  t.match(message({ width: '1mm', height: '80mm' }), /^width: Must be from 10mm to 5000mm\.$/);
  t.match(message({ width: 'x' }), /^width: Must be a non-negative decimal number/);
  t.match(
    message({ width: '80mm', height: '19mm' }),
    /^margin_top and margin_bottom leave no room on the page: it is 19 mm high\.$/,
  );
  t.match(message({ viewport: { width: 5000, height: 5000 } }), /at most 16000000 pixels/);
  t.end();
});
