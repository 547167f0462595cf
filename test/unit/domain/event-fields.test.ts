/** The options of a conversion as events store them: what is left out has a default. */
import { test } from 'tap';
import {
  DEFAULT_OPTIONS,
  DEFAULT_VIEWPORT,
  PDF_ALONE,
  requestedOptions,
} from '../../../src/domain/event-fields.ts';

void test('an event that lacks an option means what it meant when it was written', (t) => {
  t.strictSame(
    DEFAULT_OPTIONS,
    {
      format: 'pdf',
      page_size: 'A4',
      landscape: false,
      single_page: false,
      margin_top: '1cm',
      margin_right: '1cm',
      margin_bottom: '1cm',
      margin_left: '1cm',
      print_background: false,
      scale: 1,
      prefer_css_page_size: false,
      media: 'print',
      tagged: true,
      outline: false,
      javascript: true,
      deterministic: false,
    },
    'a default that changes needs another version of the event',
  );
  t.strictSame(DEFAULT_VIEWPORT, { width: 800, height: 600, device_scale_factor: 1 });
  t.end();
});

void test('the options of a PDF are those of its request', (t) => {
  t.strictSame(requestedOptions(DEFAULT_OPTIONS), DEFAULT_OPTIONS);
  t.end();
});

void test('a width and height take the place of the named sheet', (t) => {
  const { page_size: _, ...others } = DEFAULT_OPTIONS;
  const own = { width: '10cm', height: '7cm' };
  t.strictSame(requestedOptions({ ...DEFAULT_OPTIONS, ...own }), { ...others, ...own });
  t.end();
});

void test('a picture has no paper', (t) => {
  const picture = { ...DEFAULT_OPTIONS, format: 'png', width: '10cm', height: '7cm' } as const;
  t.strictSame(requestedOptions(picture), {
    format: 'png',
    media: 'print',
    javascript: true,
    deterministic: false,
  });
  t.ok(PDF_ALONE.includes('metadata'));
  t.end();
});
