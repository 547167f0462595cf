import { type ErrorDetails, ServiceError } from '../../errors.ts';

/** Fields named in one answer: a body of a million unknown fields is not sent back to its sender. */
const MAX_FIELDS = 100;
const MAX_NAME_CHARACTERS = 100;

/** What is wrong with a request, gathered field by field so that one answer says all of it. */
export class Issues {
  readonly #fields = new Map<string, string[]>();

  add(field: string, message: string): void {
    const name =
      field.length > MAX_NAME_CHARACTERS ? `${field.slice(0, MAX_NAME_CHARACTERS)}…` : field;
    const known = this.#fields.get(name);
    if (known !== undefined) {
      if (!known.includes(message)) known.push(message);
    } else if (this.#fields.size < MAX_FIELDS) this.#fields.set(name, [message]);
  }

  /** Whether anything is wrong with the field or within it. */
  concern(field: string): boolean {
    const within = `${field}.`;
    return [...this.#fields.keys()].some((name) => name === field || name.startsWith(within));
  }

  /** @throws {ServiceError} `validation_error`, where anything was added */
  throwAny(): void {
    const [first] = this.#fields;
    if (first === undefined) return;
    const [field, [message = '']] = first;
    const more = this.#fields.size - 1;
    const rest = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'field' : 'fields'})`;
    throw new ServiceError('validation_error', `${field}: ${message}${rest}`, {
      details: Object.fromEntries(this.#fields) satisfies ErrorDetails,
    });
  }
}
