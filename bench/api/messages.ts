/** What the processes of the API benchmark say to each other. */

/** To the load: send `count` requests over `connections` kept-alive connections. */
export interface Load {
  readonly port: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Every answer must have it. */
  readonly status: number;
  readonly count: number;
  readonly connections: number;
}

export interface Loaded {
  readonly seconds: number;
}

/** To the bare route: path → what it answers. */
export interface BareRoutes {
  readonly type: 'serve';
  readonly routes: Readonly<Record<string, unknown>>;
}

export interface Served {
  readonly port: number;
  /** Of a pending and of a completed conversion. */
  readonly paths: readonly string[];
  readonly apiKey: string;
}

export interface SignedIn {
  readonly access: string;
}

/** To a server; `report`: how much have you done since your start? */
export type Question = BareRoutes | { readonly type: 'serve' | 'sign in' | 'report' };

export interface ServiceReport {
  readonly cpuMicros: number;
  /** Batches that the read model saw: one to a group commit while only POSTs come. */
  readonly commits: number;
}

export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
