/** Posts to receivers of webhooks: strangers' servers, which may hang, lie or lead elsewhere. */
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { DeliveryFailure } from '../domain/choices.ts';
import { asEgressError, type FailureCode, failure } from '../egress/errors.ts';
import { type EgressPolicy, judgeReceiver } from '../egress/policy.ts';
import {
  admit,
  type Resolve,
  resolveByDns,
  resolveBySystem,
  type Target,
} from '../egress/resolve.ts';
import { withoutRepeatedQuery } from './repeated-query.ts';

/** The time for an answer, from the name's lookup to the end of its headers. */
const ANSWER_MS = 15_000;
/** The time for the first bytes of its body, after the headers. */
const BODY_MS = 1000;
/** Bytes of the answer's body that are kept. */
const KEPT_BYTES = 512;
/** Interim answers (100 to 199) before the answer: a receiver could send them without an end. */
const MAX_INTERIM = 10;
/** An unused connection is closed after it: receivers that close theirs earlier cost one more try. */
const IDLE_MS = 4000;
const MAX_IDLE = 64;

/** What a receiver said. */
export interface ReceiverAnswer {
  readonly status?: number;
  /** The reason why there is no status. */
  readonly failure?: DeliveryFailure;
  readonly durationMs: number;
  /** The first bytes of the body. */
  readonly text: string;
}

export interface Poster {
  /** @throws {unknown} the signal's reason, once it is aborted: it is not known then what the receiver got */
  post(url: URL, headers: Headers, body: string, signal: AbortSignal): Promise<ReceiverAnswer>;
  close(): void;
}

type Headers = Readonly<Record<string, string>>;

export interface PosterOptions {
  readonly policy: EgressPolicy;
  /** Names the service in `User-Agent`. */
  readonly version: string;
  readonly resolve?: Resolve;
  readonly answerMs?: number;
}

const FAILURES: Partial<Readonly<Record<FailureCode, DeliveryFailure>>> = {
  'name-not-found': 'name_not_found',
  'name-lookup-failed': 'name_lookup_failed',
  'connection-refused': 'connection_refused',
  'invalid-answer': 'invalid_answer',
  timeout: 'timeout',
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|^ERR_TLS/;

function failureOf(error: unknown): DeliveryFailure {
  if (error instanceof Error && 'code' in error && CERTIFICATE.test(String(error.code))) {
    return 'certificate_refused';
  }
  const { refused, code } = asEgressError(error);
  return refused ? 'address_refused' : (FAILURES[code as FailureCode] ?? 'connection_failed');
}

export function createPoster({
  policy,
  version,
  resolve = policy.allowPrivateNetwork ? resolveBySystem : resolveByDns,
  answerMs = ANSWER_MS,
}: PosterOptions): Poster {
  const kept = { keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS };
  const agents = { 'http:': new Agent(kept), 'https:': new SecureAgent(kept) };

  /** Checks the addresses that are then connected to. A connection that is used again was checked so, too. */
  const lookupFor =
    (url: URL): LookupFunction =>
    (_name, { all }, answer) => {
      const found = ({ addresses }: Target): void => {
        const placed = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        const [{ address, family } = { address: '', family: 4 }] = placed;
        if (all === true) answer(null, placed);
        else answer(null, address, family);
      };
      admit(url, policy, resolve).then(found, (error: unknown) =>
        answer(error as NodeJS.ErrnoException, ''),
      );
    };

  function open(url: URL, headers: Headers, body: string): ClientRequest {
    const isSecure = url.protocol === 'https:';
    const options: RequestOptions = {
      method: 'POST',
      agent: isSecure ? agents['https:'] : agents['http:'],
      lookup: lookupFor(url),
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': `Pressledger/${version}`,
        Accept: '*/*',
        'Accept-Encoding': 'identity',
        ...headers,
      },
    };
    return isSecure ? requestHttps(url, options) : requestHttp(url, options);
  }

  /** Resolves at the answer's headers. A connection that its server closed meanwhile is replaced, once. */
  async function answerTo(
    url: URL,
    headers: Headers,
    body: string,
    within: AbortSignal,
  ): Promise<IncomingMessage> {
    for (let isFirst = true; ; isFirst = false) {
      const request = open(url, headers, body);
      try {
        return await answerOf(request, body, within);
      } catch (error) {
        if (!isFirst || !request.reusedSocket || within.aborted) throw error;
      }
    }
  }

  async function post(
    url: URL,
    headers: Headers,
    body: string,
    signal: AbortSignal,
  ): Promise<ReceiverAnswer> {
    const began = performance.now();
    const durationMs = (): number => Math.round(performance.now() - began);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(failure('timeout')), answerMs);
    try {
      // A literal address is never looked up. The rules may have changed since the URL was given.
      const refused = judgeReceiver(url, policy);
      if (refused !== undefined) {
        const why = refused.code === 'not-https' ? 'https_required' : 'address_refused';
        return { failure: why, durationMs: 0, text: '' };
      }
      const within = AbortSignal.any([signal, late.signal]);
      const answer = await answerTo(url, headers, body, within);
      const { statusCode: status = 0 } = answer;
      const took = durationMs();
      const text = withoutRepeatedQuery(await firstBytes(answer), url);
      // HTTP knows none below.
      return status < 100
        ? { failure: 'invalid_answer', durationMs: took, text }
        : { status, durationMs: took, text };
    } catch (error) {
      signal.throwIfAborted();
      const reason = late.signal.aborted ? late.signal.reason : error;
      return { failure: failureOf(reason), durationMs: durationMs(), text: '' };
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    post,
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function answerOf(
  request: ClientRequest,
  body: string,
  within: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const end = (): void => void request.destroy(within.reason as Error);
  within.addEventListener('abort', end, { once: true });
  let isAnswered = false;
  request.once('response', (answer) => {
    isAnswered = true;
    resolve(answer);
  });
  let before = 0;
  request.on('information', () => {
    before += 1;
    if (before > MAX_INTERIM) request.destroy(failure('invalid-answer'));
  });
  // Later ones too, or they would end the process.
  request.on('error', reject);
  // An upgrade that nobody asked for closes without an error.
  request.once('close', () => {
    if (!isAnswered) reject(failure('invalid-answer'));
  });
  if (within.aborted) end();
  else request.end(body);
  return promise.finally(() => within.removeEventListener('abort', end));
}

/** The beginning of the body, within a second. A body that ends with it leaves its connection for others. */
async function firstBytes(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => answer.destroy(), BODY_MS);
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > KEPT_BYTES) break;
    }
  } catch {
    // Its status counts, whatever becomes of the body.
  } finally {
    clearTimeout(timer);
  }
  const text = Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8');
  // A character that was cut in two.
  return length > KEPT_BYTES ? text.replace(/\uFFFD+$/, '') : text;
}
