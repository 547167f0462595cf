/** What the files for deployment say, as the tools that read them would understand it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** As compose fills in texts: `${NAME}`, `${NAME:-default}`, `${NAME:?why}`. @throws what is missing */
function interpolate(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((each) => interpolate(each, env));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, each]) => [key, interpolate(each, env)]);
    return Object.fromEntries(entries);
  }
  if (typeof value !== 'string') return value;
  return value.replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind: string | undefined, rest = '') => {
      const given = env[name] ?? '';
      if (given === '' && kind === '?') throw new Error(`${name}: ${rest}`);
      return given === '' && kind === '-' ? rest : given;
    },
  );
}

export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly target: string };
  readonly container_name?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly stop_grace_period: string;
  readonly mem_limit: string;
}

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function readCompose(env: Readonly<Record<string, string>>): Compose {
  return interpolate(parse(read('docker-compose.yml'), { merge: true }), env) as Compose;
}

/** A stage of the Dockerfile: what it starts from, and its instructions in order. */
export interface Stage {
  readonly from: string;
  readonly lines: readonly string[];
}

export function readDockerfile(): ReadonlyMap<string, Stage> {
  const lines = read('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
  const stages = new Map<string, { from: string; lines: string[] }>();
  let stage: { from: string; lines: string[] } | undefined;
  for (const line of lines) {
    const [, from, name] = /^FROM (\S+) AS (\S+)$/.exec(line) ?? [];
    if (from !== undefined && name !== undefined) {
      stage = { from, lines: [] };
      stages.set(name, stage);
    } else stage?.lines.push(line);
  }
  return stages;
}

export interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly securityContext: Readonly<Record<string, unknown>>;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: unknown;
}

export function readManifests(file: string): readonly Manifest[] {
  return parseAllDocuments(read(`deploy/kubernetes/${file}`)).map(
    (document) => document.toJS() as Manifest,
  );
}
