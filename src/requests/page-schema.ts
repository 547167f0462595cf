/** The schemas of the paper, and of the surroundings that a page finds. */
import Type from 'typebox';
import { COLOR_SCHEMES, FORMATS, PAGE_SIZES } from '../domain/choices.ts';
import { DEFAULT_OPTIONS, DEFAULT_VIEWPORT } from '../domain/event-fields.ts';

export const LENGTH = { pattern: '^([0-9]+([.][0-9]+)?|[.][0-9]+)(px|cm|in|mm)$', maxLength: 32 };

export const MAX_CSS_BYTES = 1024 * 1024;
/** As many pixels of the screen are in the window of a page at most. */
export const MAX_WINDOW_PIXELS = 16_000_000;
/** Any subtag that matters is within this. */
const MAX_LOCALE_CHARACTERS = 100;
const MAX_TIMEZONE_CHARACTERS = 64;

const Margin = (side: 'top' | 'right' | 'bottom' | 'left') =>
  Type.Optional(
    Type.String({
      ...LENGTH,
      default: DEFAULT_OPTIONS[`margin_${side}`],
      description: `The ${side} margin: a decimal number with the unit px, cm, in or mm.`,
    }),
  );

const Side = (side: 'width' | 'height', rest: string, example: string) =>
  Type.Optional(
    Type.String({
      ...LENGTH,
      description: `The ${side} of the paper, written like a margin, from 10mm to 5000mm. ${rest}`,
      examples: [example],
    }),
  );

/** The paper and its margins. */
export const PAPER = {
  format: Type.Optional(
    Type.Enum([...FORMATS], {
      default: DEFAULT_OPTIONS.format,
      description:
        'What is made: a PDF, or a picture of the whole page as a screen shows it. A picture is as wide as the viewport. Options of paper and of PDFs do not go with it, and media is screen unless given.',
    }),
  ),
  page_size: Type.Optional(
    Type.Enum([...PAGE_SIZES], {
      default: DEFAULT_OPTIONS.page_size,
      description: 'The paper size.',
    }),
  ),
  width: Side('width', 'Goes with height or single_page, and not with page_size.', '80mm'),
  height: Side('height', 'Goes with width, and not with page_size or single_page.', '200mm'),
  landscape: Type.Optional(
    Type.Boolean({
      default: DEFAULT_OPTIONS.landscape,
      description: 'Print in landscape orientation.',
    }),
  ),
  single_page: Type.Optional(
    Type.Boolean({
      default: DEFAULT_OPTIONS.single_page,
      description:
        'Print on one page that is as long as the document, at most 5 m. Its width is that of page_size, or width. Page breaks and @page of the document do not count.',
    }),
  ),
  margin_top: Margin('top'),
  margin_right: Margin('right'),
  margin_bottom: Margin('bottom'),
  margin_left: Margin('left'),
};

/** What a page finds around it, and what is added to it. */
export const SURROUNDINGS = {
  css: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_CSS_BYTES,
      description:
        'A style sheet that is added to the page after its own, at most 1 MiB. A content security policy of the page does not stop it. @import in it is not followed.',
      examples: ['nav, .cookie-banner { display: none }'],
    }),
  ),
  color_scheme: Type.Optional(
    Type.Enum([...COLOR_SCHEMES], {
      description: 'The colour scheme that the page finds preferred. light unless given.',
    }),
  ),
  viewport: Type.Optional(
    Type.Object(
      {
        width: Type.Optional(
          Type.Integer({
            minimum: 50,
            maximum: 5_000,
            default: DEFAULT_VIEWPORT.width,
            description: 'CSS pixels.',
            examples: [1280],
          }),
        ),
        height: Type.Optional(
          Type.Integer({
            minimum: 50,
            maximum: 5_000,
            default: DEFAULT_VIEWPORT.height,
            description: 'CSS pixels.',
            examples: [720],
          }),
        ),
        device_scale_factor: Type.Optional(
          Type.Number({
            minimum: 0.5,
            maximum: 4,
            default: DEFAULT_VIEWPORT.device_scale_factor,
            description: 'Pixels of the screen for each CSS pixel.',
            examples: [2],
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          'The window that scripts and style sheets for the screen see. It has at most 16,000,000 pixels of the screen. The width of a PDF follows from its paper.',
      },
    ),
  ),
  timezone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_TIMEZONE_CHARACTERS,
      description: "The time zone of the page's clock, by its name in the IANA database.",
      examples: ['Europe/Zurich'],
    }),
  ),
  locale: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_LOCALE_CHARACTERS,
      description:
        'The language of the browser (BCP 47), by which scripts write dates and numbers. It is asked of web servers too, in Accept-Language.',
      examples: ['de-CH'],
    }),
  ),
};

export const LENGTH_FORM =
  'Must be a non-negative decimal number with the unit px, cm, in or mm, such as 1.5cm.';

export const PAGE_FORMS = {
  width: LENGTH_FORM,
  height: LENGTH_FORM,
  margin_top: LENGTH_FORM,
  margin_right: LENGTH_FORM,
  margin_bottom: LENGTH_FORM,
  margin_left: LENGTH_FORM,
} as const;
