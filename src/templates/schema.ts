/** JSON Schemas that accounts write for the data of their templates: read as they are, never made into code. */
import { Errors } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { suggest } from '../text/suggest.ts';
import { patternProblem, withLinearPatterns } from './linear-patterns.ts';
import type { FillProblem } from './messages.ts';

Settings.Set({ maxErrors: 200 });

const MAX_DEPTH = 40;
const TYPES: ReadonlySet<unknown> = new Set([
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isAny = (): boolean => true;

/** Keywords with a plain value: the test of it, and what it must be. */
const PLAIN: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  type: [
    (value) => [value].flat().length > 0 && [value].flat().every((each) => TYPES.has(each)),
    `Must be one or several of ${[...TYPES].join(', ')}.`,
  ],
  required: [isTexts, 'Must be a list of names.'],
  enum: [Array.isArray, 'Must be a list.'],
  const: [isAny, ''],
  format: [isText, 'Must be a text.'],
  uniqueItems: [(value) => typeof value === 'boolean', 'Must be true or false.'],
  $ref: [
    (value) => typeof value === 'string' && value.startsWith('#'),
    'Must begin with #: nothing is fetched. Put the schema into $defs.',
  ],
  multipleOf: [(value) => isNumber(value) && Number(value) > 0, 'Must be a number above 0.'],
  ...Object.fromEntries(
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => [
      name,
      [isNumber, 'Must be a number.'] as const,
    ]),
  ),
  ...Object.fromEntries(
    [
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'minProperties',
      'maxProperties',
      'minContains',
      'maxContains',
    ].map((name) => [name, [isCount, 'Must be a whole number from 0.'] as const]),
  ),
  dependentRequired: [
    (value) => isObject(value) && Object.values(value).every(isTexts),
    'Must be an object of lists of names.',
  ],
  ...Object.fromEntries(
    [
      '$schema',
      '$id',
      '$comment',
      'title',
      'description',
      'default',
      'examples',
      'deprecated',
      'readOnly',
      'writeOnly',
      'contentEncoding',
      'contentMediaType',
    ].map((name) => [name, [isAny, ''] as const]),
  ),
};
const OF_ONE = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
]);
const OF_MANY = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const OF_NAMED = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const KEYWORDS = ['pattern', ...Object.keys(PLAIN), ...OF_ONE, ...OF_MANY, ...OF_NAMED];

/**
 * Names what a schema says that would be passed over, or could not be followed: a misspelt keyword checks nothing, and
 * its writer would believe that it does.
 */
export function schemaProblems(schema: unknown, path: readonly string[]): readonly FillProblem[] {
  if (typeof schema === 'boolean') return [];
  if (!isObject(schema)) return [{ path, message: 'Must be a schema: an object, true or false.' }];
  if (path.length > MAX_DEPTH) return [{ path, message: 'Is nested too deeply.' }];
  return Object.entries(schema).flatMap(([name, value]): readonly FillProblem[] => {
    const place = [...path, name];
    const plain = Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined;
    if (plain !== undefined) return plain[0](value) ? [] : [{ path: place, message: plain[1] }];
    if (name === 'pattern') {
      const message = isText(value) ? patternProblem(String(value)) : 'Must be a text.';
      return message === undefined ? [] : [{ path: place, message }];
    }
    if (OF_ONE.has(name)) return schemaProblems(value, place);
    if (OF_MANY.has(name)) {
      if (!Array.isArray(value)) return [{ path: place, message: 'Must be a list of schemas.' }];
      const schemas: readonly unknown[] = value;
      return schemas.flatMap((each, n) => schemaProblems(each, [...place, String(n)]));
    }
    if (OF_NAMED.has(name)) {
      if (!isObject(value)) return [{ path: place, message: 'Must be an object of schemas.' }];
      return Object.entries(value).flatMap(([key, each]) => {
        const message = name === 'patternProperties' ? patternProblem(key) : undefined;
        const ofKey = message === undefined ? [] : [{ path: [...place, key], message }];
        return [...ofKey, ...schemaProblems(each, [...place, key])];
      });
    }
    const near = suggest(name, KEYWORDS);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    return [{ path: place, message: `Is not a keyword that is checked.${hint}` }];
  });
}

const article = (type: string): string => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;

/** What is wrong with data by a schema, each at its place. */
export function dataProblems(schema: object, data: object): readonly FillProblem[] {
  const [isRight, errors] = withLinearPatterns(schema, () => Errors(schema, data));
  if (isRight) return [];
  const problems = errors.flatMap(({ keyword, instancePath, params, message }) => {
    const steps = instancePath
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const path = ['data', ...steps];
    const given = params as Readonly<Record<string, unknown>>;
    if (keyword === 'required') {
      const names = given['requiredProperties'] as readonly string[];
      return names.map((name) => ({ path: [...path, name], message: 'Is required.' }));
    }
    if (keyword === 'boolean') return [{ path, message: 'Is not known to the schema.' }];
    // Each name is told by itself.
    if (keyword === 'additionalProperties') return [];
    if (keyword === 'type') {
      const types = [given['type']].flat().map(String);
      return [{ path, message: `Must be ${types.map(article).join(' or ')}.` }];
    }
    const said = message.replace(/^must/, 'Must').replace(/\.?$/, '.');
    return [{ path, message: said }];
  });
  return problems.length > 0 ? problems : [{ path: ['data'], message: 'Does not fit the schema.' }];
}
