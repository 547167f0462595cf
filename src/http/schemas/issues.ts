import { type ErrorDetails, ServiceError } from '../../errors.ts';

/** Fields named in one answer: a body of a million faults is not sent back to its sender. */
const MAX_FIELDS = 200;
/** Fewer, so that they never crowd out what is wrong with fields that are known. */
const MAX_UNKNOWN = 100;
const MAX_NAME_CHARACTERS = 100;

/** What is wrong with a request, gathered field by field so that one answer says all of it. */
export class Issues {
  readonly #fields = new Map<string, string[]>();
  /** The first step of each field's name, also of fields that the answer has no room for. */
  readonly #concerned = new Set<string>();
  #unknown = 0;

  get any(): boolean {
    return this.#concerned.size > 0;
  }

  add(field: string, message: string): void {
    this.#concern(field);
    const name =
      field.length > MAX_NAME_CHARACTERS ? `${field.slice(0, MAX_NAME_CHARACTERS)}…` : field;
    const known = this.#fields.get(name);
    if (known !== undefined) {
      if (!known.includes(message)) known.push(message);
    } else if (this.#fields.size < MAX_FIELDS) this.#fields.set(name, [message]);
  }

  addUnknown(field: string): void {
    this.#unknown += 1;
    if (this.#unknown <= MAX_UNKNOWN) this.add(field, 'Is not a known field.');
    else this.#concern(field);
  }

  /** Whether anything is wrong with the field of the body or within it. */
  concern(field: string): boolean {
    return this.#concerned.has(field);
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

  #concern(field: string): void {
    this.#concerned.add(field.split('.', 1)[0] ?? field);
  }
}
