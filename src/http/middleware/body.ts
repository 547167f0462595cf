import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { addressKey } from '../../accounts/rate-limits.ts';
import { Semaphore } from '../../async/semaphore.ts';
import type { Config } from '../../config/config.ts';
import { ServiceError } from '../../errors/errors.ts';
import { Budget, BudgetExceeded, type Budgets } from '../../limits/budgets.ts';
import { jsonLimitIssue } from '../../requests/json-limits.ts';
import { type ValidationIssues, validated } from '../../requests/validation.ts';
import { type Caller, disconnection, type HttpContext, isByOperatorSocket } from '../context.ts';
import { parseForm } from './multipart.ts';
import { sizeText } from '../../text/size.ts';

/** Read on after the limit, so that a client still sending gets to see the answer. */
const DISCARD_BYTES = 16 * 1024 * 1024;
/** A shorter body is parsed and checked at once: that takes less than a turn of the event loop. */
const SHORT_BYTES = 64 * 1024;
/** The credentials and names that small bodies hold are short, and some come from anybody. */
const MAX_SMALL_BODY_BYTES = 65_536;
/** Counts more bytes of memory for a request, until it was handled. @throws {BudgetExceeded} */
export type HoldBytes = (bytes: number) => void;

const RETRY_SECONDS = 2;
/** All clients without an account share what one account may send: they never fill the whole budget. */
const NO_ACCOUNT = 'no account';

const utf8 = new TextDecoder('utf-8', { fatal: true });

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError(
    'payload_too_large',
    `The request body is larger than ${sizeText(maxBytes)}, the most that is accepted.`,
  );
}

export const JSON_OR_FORM = 'Send the body as application/json or as multipart/form-data.';

/** @returns whether the body is a form */
function checkMediaType(request: IncomingMessage, forms: boolean): boolean {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((each) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(each)?.[1]?.toLowerCase())
    .find((each) => each !== undefined);
  const media = type.trim().toLowerCase();
  const isForm = forms && media === 'multipart/form-data';
  const known = isForm || media === 'application/json';
  if (!known || (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')) {
    throw new ServiceError('unsupported_media_type', forms ? JSON_OR_FORM : undefined);
  }
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new ServiceError('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  return isForm;
}

/** A body that declares more than `maxBytes` is read away, and nothing of it is kept: no budget counts it. */
async function readBytes(
  request: IncomingMessage,
  declared: number | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const most = declared !== undefined && declared > maxBytes ? 0 : maxBytes;
  // One buffer: a chunked body may come in millions of chunks, each an object of its own.
  let kept = Buffer.allocUnsafe(Math.min(declared ?? SHORT_BYTES, most));
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const part = chunk as Buffer;
      const end = bytes + part.length;
      if (end <= most) {
        if (end > kept.length) {
          const larger = Buffer.allocUnsafe(Math.min(Math.max(end, 2 * kept.length), most));
          kept.copy(larger, 0, 0, bytes);
          kept = larger;
        }
        part.copy(kept, bytes);
      }
      bytes = end;
      if (bytes > maxBytes + DISCARD_BYTES) break;
    }
  } catch (cause) {
    throw new ServiceError('validation_error', 'The request body did not arrive whole.', { cause });
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  return kept.subarray(0, bytes);
}

function parse(bytes: Buffer, maxValues: number | undefined): object {
  const issue = jsonLimitIssue(bytes, maxValues);
  if (issue !== undefined) {
    throw new ServiceError('validation_error', `The request body ${issue}`);
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ServiceError('validation_error', 'The request body is not valid UTF-8.', { cause });
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new ServiceError('validation_error', 'The request body is not valid JSON.', { cause });
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new ServiceError('validation_error', 'The request body must be a JSON object.');
}

type FindCaller = (ctx: HttpContext) => Promise<Caller | undefined>;

/** The forms of a body that a route takes. */
interface BodyForms {
  /** Also `multipart/form-data`: `check` is then given a `FormBody`. */
  readonly forms?: boolean;
  /** Values in a JSON text, at most; those of one sensible request unless given. */
  readonly maxValues?: number;
}

/** The bodies that are being received or handled. What they take of memory is bounded before they are read. */
const roleOf = ({ actor }: Caller): string | undefined =>
  'role' in actor ? actor.role : undefined;

export class RequestBodies {
  readonly #all: Budget;
  readonly #share: Budget;
  /** The share of clients without an account, by their addresses. */
  readonly #strangers: Budget;
  readonly #validations: Budget;
  readonly #validationSlots: Semaphore;
  readonly #findCaller: FindCaller | undefined;

  /** @param findCaller judges the credential of a request again */
  constructor(budgets: Budgets, findCaller?: FindCaller) {
    this.#findCaller = findCaller;
    this.#all = budgets.get('maxBodiesBytes');
    this.#share = budgets.get('maxAccountBodiesBytes');
    const { name, limit } = this.#share;
    this.#strangers = new Budget(name, limit, 'leaving room');
    this.#validations = budgets.get('maxValidations');
    this.#validationSlots = new Semaphore(this.#validations.limit);
  }

  /**
   * Reads the request's JSON object, has `check` make of it what is needed, and counts the body, and what `handle` holds
   * beside it, until `handle` has ended. The object itself is let go before that, and the credential is judged once more.
   * @throws {ServiceError} `payload_too_large`, `unsupported_media_type`, `validation_error`, or what refuses the credential
   * @throws {BudgetExceeded} before anything of the body is read
   */
  async read<Checked, Result>(
    ctx: HttpContext,
    maxBytes: number,
    check: (body: object) => Checked | Promise<Checked>,
    handle: (checked: Checked, hold: HoldBytes) => Promise<Result>,
    allows: BodyForms = {},
  ): Promise<Result> {
    const { headers } = ctx.req;
    const chunked = headers['transfer-encoding'] !== undefined;
    const declared = chunked ? undefined : Number(headers['content-length'] ?? 0);
    if (declared === 0) {
      throw new ServiceError('validation_error', 'The request body must be a JSON object.');
    }
    const releases = [this.#take(ctx, declared ?? maxBytes, maxBytes)];
    const hold = (bytes: number) => void releases.push(this.#take(ctx, bytes, bytes));
    try {
      const checked = await this.#receive(ctx, declared, maxBytes, check, allows);
      await this.#judgeAgain(ctx);
      return await handle(checked, hold);
    } finally {
      for (const release of releases) release();
    }
  }

  /**
   * The body of a request that carries no document.
   * @throws {ServiceError} `payload_too_large`, `unsupported_media_type` or `validation_error`
   */
  readSmall<T>(
    ctx: HttpContext,
    { maxBodyBytes }: Pick<Config, 'maxBodyBytes'>,
    check: (body: object, issues: ValidationIssues) => T,
    mostBytes = MAX_SMALL_BODY_BYTES,
  ): Promise<T> {
    const maxBytes = Math.min(maxBodyBytes, mostBytes);
    return this.read(
      ctx,
      maxBytes,
      (body) => validated((issues) => check(body, issues)),
      async (body) => body,
    );
  }

  /**
   * Refuses a credential that has ended, or lost its rights, while the body came. A thief could otherwise hold
   * back the end of a body, and have a key made or a PDF printed after the owner has ended all sessions.
   * @throws {ServiceError} `unauthorized`, or `forbidden` for an account that was suspended
   */
  async #judgeAgain(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (caller === undefined || this.#findCaller === undefined) return;
    const now = await this.#findCaller(ctx);
    const holds =
      now?.accountId === caller.accountId &&
      now.isOperator === caller.isOperator &&
      roleOf(now) === roleOf(caller);
    if (!holds) throw ctx.state.refusal ?? new ServiceError('unauthorized');
  }

  /** @param bytes more than `maxBytes` will be refused, so that nothing of them is kept */
  #take(ctx: HttpContext, bytes: number, maxBytes: number): () => void {
    if (bytes > maxBytes) return () => {};
    const { caller, clientAddress } = ctx.state;
    // What strangers send must not keep the operator from acting.
    if (caller === undefined && isByOperatorSocket(ctx)) return () => {};
    const holder = caller?.accountId ?? addressKey(clientAddress);
    const ofShare = this.#share.take(bytes, caller === undefined ? NO_ACCOUNT : holder);
    if (ofShare === undefined && caller !== undefined) {
      throw new BudgetExceeded(
        'client',
        'The account is sending too much at a time. Wait for answers before sending more.',
        RETRY_SECONDS,
      );
    }
    const ofStrangers = caller === undefined ? this.#strangers.take(bytes, holder) : ofShare;
    const ofAll = ofShare && ofStrangers && this.#all.take(bytes, holder);
    const release = (): void => {
      ofShare?.();
      ofStrangers?.();
      ofAll?.();
    };
    if (ofAll !== undefined) return release;
    release();
    throw new BudgetExceeded('service', 'Too much is being sent at a time.', RETRY_SECONDS);
  }

  async #receive<Checked>(
    ctx: HttpContext,
    declared: number | undefined,
    maxBytes: number,
    check: (body: object) => Checked | Promise<Checked>,
    { forms = false, maxValues }: BodyForms,
  ): Promise<Checked> {
    try {
      const fits = declared === undefined || declared <= maxBytes;
      const isForm = fits && checkMediaType(ctx.req, forms);
      const bytes = await readBytes(ctx.req, declared, maxBytes);
      const type = ctx.req.headers['content-type'] ?? '';
      const work = async () =>
        check(isForm ? await parseForm(bytes, type) : parse(bytes, maxValues));
      return await (bytes.length <= SHORT_BYTES ? work() : this.#inTurn(ctx, work));
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'payload_too_large') {
        ctx.set('Connection', 'close');
      }
      throw error;
    }
  }

  /**
   * Runs `work` when it is its turn. What is parsed takes several times its bytes, so only some bodies
   * are at a time. How many wait is bounded by the bytes that may be held.
   */
  async #inTurn<Result>(ctx: HttpContext, work: () => Promise<Result>): Promise<Result> {
    const gone = disconnection(ctx);
    const free = await this.#validationSlots.acquire(gone);
    const counted = free && this.#validations.take();
    try {
      // Others' requests go between two long checks.
      await turn();
      if (!gone.aborted) return await work();
    } finally {
      counted?.();
      free?.();
    }
    throw new ServiceError('validation_error', 'The client hung up before its answer.');
  }
}
