/** Loads the OpenTelemetry SDK where an endpoint is set, and nothing of it elsewhere. */
import type { Logger } from '../log.ts';
import type { Tracing } from './port.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** True where the standard variables name a place for traces and none of them turns traces off. */
export function isTracingOn(env: Environment): boolean {
  const endpoint =
    env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || '';
  const isOff =
    env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  return endpoint !== '' && !isOff;
}

/** @returns undefined where traces are off */
export async function startTracing(
  env: Environment,
  version: string,
  role: string,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!isTracingOn(env)) return undefined;
  const { startOpenTelemetry } = await import('./opentelemetry.ts');
  return startOpenTelemetry(version, role, logger);
}
