import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Passwords } from '../accounts/passwords.ts';
import type { ActorSystem } from '../actors/system.ts';
import type { Config } from '../config/config.ts';
import type { LookBacks } from '../conversions/look-back.ts';
import type { ConversionSearches } from '../conversions/search.ts';
import type { FailedWork } from '../conversions/failed-work.ts';
import type { TemplateTime } from '../conversions/template-time.ts';
import type { Thumbnails } from '../conversions/thumbnails.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { BlobStore } from '../documents/port.ts';
import type { Certificate } from '../domain/signature.ts';
import type { EventStore } from '../event-store/port.ts';
import type { Bounds } from '../limits/bounds.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { RateLimiter } from '../limits/rate-limiter/port.ts';
import type { CheckpointSigner } from '../log/checkpoint-signer.ts';
import type { Logger } from '../observe/log.ts';
import type { Tracing } from '../observe/tracing/port.ts';
import type { IdentityProvider } from '../oidc/port.ts';
import type { ReadModel } from '../read-model/database.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import type { RendererWatch } from '../render-queue/port.ts';
import type { Clock } from '../time/clock.ts';
import type { Caller, HttpContext } from './context.ts';
import type { BuiltFiles } from './fixed-answer.ts';
import type { RequestBodies } from './middleware/body.ts';
import type { RequestEnd } from './middleware/observe.ts';
import type { OpenApiDocument } from './openapi/types.ts';
import type { SealedTokens } from './sealed-tokens.ts';
import type { FileTokens, Tokens } from './tokens.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Reasons why the node cannot accept or render, for its operator. */
  readonly missing: readonly string[];
  /** True if the node feeds the render queue; absent for one that never does. */
  readonly leads?: boolean;
}

export interface RebuildState {
  /** Positions of the log: that which the rebuild has reached, and the one that it is to reach. */
  readonly underWay: { readonly position: bigint; readonly end: bigint } | undefined;
  /** The last one since the start of this process, in milliseconds since the Unix epoch, and why it failed. */
  readonly last: { readonly endedAt: number; readonly error: string | undefined } | undefined;
}

/** Rebuilds of this node's read models. */
export interface Rebuilds {
  state(): RebuildState;
  /** Begins one, unless one is under way. */
  start(): void;
}

/** The service around the API, for its operators. */
export interface Operations {
  readonly version: string;
  readonly renderers: RendererWatch;
  readonly rebuilds: Rebuilds;
}

export interface HttpApp {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** The rate limit headers for a connection that sent no request that could be understood. */
  readonly rateLimitHeaders: (socket: Socket) => Promise<Readonly<Record<string, string>>>;
  /** Answers at once all requests that wait for something to happen. */
  readonly endWaiting: () => void;
}

/** The parts that the HTTP API is made of; the composition chooses them. */
export interface HttpDependencies {
  readonly config: Config;
  readonly bounds: Pick<Bounds, 'admit'>;
  readonly budgets: Budgets;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly actors: ActorSystem;
  readonly store: Pick<EventStore, 'head'>;
  readonly streams: Pick<EventStore, 'readStream' | 'readAll' | 'head'>;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
  readonly blobs: BlobStore;
  readonly vault: Vault;
  readonly signer: Pick<CheckpointSigner, 'sign' | 'signNews' | 'signText' | 'rotate'>;
  readonly rateLimiter: RateLimiter;
  readonly fileTokens: FileTokens;
  readonly tokens: Tokens;
  /** What a browser keeps for the service, and cannot read. */
  readonly sealedTokens: SealedTokens;
  /** Absent without OIDC_ISSUER. */
  readonly identityProvider?: IdentityProvider | undefined;
  /** The service's own certificate for signatures, if it has one. */
  readonly seal?: Certificate | undefined;
  /** Keys the hash under which a sign-in address is found. */
  readonly addressKey: Buffer;
  /** Keys the hashes of idempotency keys. */
  readonly idempotencySecret: Buffer;
  /** The origin under which clients reach the service. */
  readonly publicUrl: string;
  /** The folder of what `dashboard/` builds: the pages, the reference page's script, the client's package. */
  readonly builtFolder: string;
  readonly operations: Operations;
  readonly readiness: () => Readiness | Promise<Readiness>;
  /** Absent where requests are not traced. */
  readonly tracing?: Tracing | undefined;
  /** Called at the end of each request. */
  readonly onRequestEnd?: ((end: RequestEnd) => void) | undefined;
}

/** The parts of one running app beside those that it was given. */
export interface RouteDependencies extends HttpDependencies {
  /** Aborted when the server closes: nothing is waited for any longer. */
  readonly closing: AbortSignal;
  readonly document: () => OpenApiDocument;
  readonly built: BuiltFiles;
  /** Finds who sends a request, as far as the credential still holds. */
  readonly findCaller: (ctx: HttpContext) => Promise<Caller | undefined>;
  readonly bodies: RequestBodies;
  readonly lookBacks: LookBacks;
  readonly searches: ConversionSearches;
  readonly thumbnails: Thumbnails;
  readonly templates: TemplateTime;
  readonly failedWork: FailedWork;
  /** Those of the command line, which take as long as they take. */
  readonly operatorLookBacks: LookBacks;
}
