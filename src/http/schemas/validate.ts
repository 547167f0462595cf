import type { Static, TObject } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { ServiceError } from '../../errors.ts';
import type { Issues } from './issues.ts';
import { knownPart } from './known-part.ts';

// The default of 8 would hide the ninth mistake of a request.
Settings.Set({ maxErrors: 200 });

const NESTED_LEVELS = 4;

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);
const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
const TYPE_NAMES: Readonly<Record<string, string>> = { integer: 'whole number' };

/** What the client reads of a bound that was crossed. */
const BOUNDS: Readonly<Record<string, (limit: number) => string>> = {
  minimum: (limit) => `Must be at least ${limit}.`,
  maximum: (limit) => `Must be at most ${limit}.`,
  minLength: (limit) =>
    limit === 1 ? 'Must not be empty.' : `Must have at least ${plural(limit, 'character')}.`,
  maxLength: (limit) => `Must have at most ${plural(limit, 'character')}.`,
  maxItems: (limit) => `Must have at most ${plural(limit, 'item')}.`,
  maxProperties: (limit) => `Must have at most ${limit} entries.`,
};

function messageOf(error: TValidationError): string {
  if (error.keyword === 'type') {
    const type = String(error.params.type);
    return `Must be ${article(TYPE_NAMES[type] ?? type)}.`;
  }
  if (error.keyword === 'enum') return `Must be one of ${error.params.allowedValues.join(', ')}.`;
  const bound = BOUNDS[error.keyword];
  if (bound !== undefined && 'limit' in error.params) return bound(Number(error.params.limit));
  return 'Does not have the right form.';
}

/** `/wait_for/selector` → `wait_for.selector`. */
function fieldName(pointer: string, ...more: string[]): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [...steps, ...more].join('.');
}

function addError(issues: Issues, error: TValidationError): void {
  if (error.keyword === 'required') {
    for (const name of error.params.requiredProperties) {
      issues.add(fieldName(error.instancePath, name), 'Is required.');
    }
  } else issues.add(fieldName(error.instancePath), messageOf(error));
}

/** Text that no document and no log can hold is refused wherever it stands. */
function checkText(issues: Issues, value: unknown, path: readonly string[]): void {
  if (typeof value === 'string') {
    const field = path.join('.');
    if (!value.isWellFormed()) issues.add(field, 'Must be well-formed Unicode.');
    if (value.includes('\0')) issues.add(field, 'Must not contain the character NUL.');
  } else if (typeof value === 'object' && value !== null && path.length < NESTED_LEVELS) {
    for (const [name, each] of Object.entries(value)) checkText(issues, each, [...path, name]);
  }
}

export type Check<S extends TObject> = (body: object, issues: Issues) => body is Static<S> & object;

/**
 * Compiles a schema of closed objects once; the check adds to `issues` all that is wrong at the same
 * time, and its work is bounded by the schema, whatever the body holds.
 * @param forms field name (`*` for any item) → what its pattern demands, in words
 */
export function compile<const S extends TObject>(
  schema: S,
  forms: Readonly<Record<string, string>> = {},
): Check<S> {
  const validator = Compile(schema);
  return (body, issues): body is Static<S> & object => {
    const known = knownPart(schema, body, issues);
    checkText(issues, known, []);
    if (validator.Check(known)) return !issues.any;
    for (const error of validator.Errors(known)) {
      const field = fieldName(error.instancePath);
      const form = forms[field.replaceAll(/\.\d+(?=\.|$)/g, '.*')];
      if (error.keyword === 'pattern' && form !== undefined) issues.add(field, form);
      else addError(issues, error);
    }
    if (!issues.any) throw new ServiceError('validation_error');
    return false;
  };
}
