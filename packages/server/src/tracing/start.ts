/**
 * OpenTelemetry traces by the standard environment variables. Nothing of OpenTelemetry is loaded, and nothing is measured, unless an
 * endpoint is set.
 */
import type { Settlement } from '@millrace/contract/runner';

/** One answered request. */
export interface AnsweredRequest {
  readonly method: string;
  /** The path as it is declared: no id and no query is in it. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly traceparent: string | undefined;
}

/** One attempt that ended; what it says has no secret in it any more. */
export interface TracedAttempt extends Settlement {
  readonly task: string;
  /** When it was handed to its runner, in milliseconds since 1970; undefined when another process did it. */
  readonly since?: number | undefined;
}

export interface Tracing {
  request(answered: AnsweredRequest): void;
  /** `status` is the final one of the run, or `retry`, `released`, `parked`. */
  attempt(ended: TracedAttempt, status: string | undefined): void;
  /** Sends what is left. */
  stop(): Promise<void>;
}

type Settings = Readonly<Record<string, string | undefined>>;

/** Something that is installed apart, since most servers do not need it. The message has the command that installs it. */
export class OptionalPackageMissing extends Error {
  override readonly name = 'OptionalPackageMissing';
}

/** The packages that export.ts imports, as package.json names them under `peerDependencies`. */
export const tracingPackages = [
  '@opentelemetry/api@1',
  '@opentelemetry/exporter-trace-otlp-http@0.219',
  '@opentelemetry/resources@2',
  '@opentelemetry/sdk-trace-base@2',
];

/** Undefined when no endpoint is set, or tracing is switched off. Throws an OptionalPackageMissing where it cannot be switched on. */
export async function startTracing(settings: Settings = process.env): Promise<Tracing | undefined> {
  const endpoint = settings['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || settings['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const isOff = settings['OTEL_SDK_DISABLED'] === 'true' || settings['OTEL_TRACES_EXPORTER'] === 'none';
  if (!endpoint || isOff) return undefined;
  const { exportTraces } = await import('./export.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('@opentelemetry/')) throw error;
    throw new OptionalPackageMissing(
      `OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, and the packages that send them are not installed: run \`npm install ${tracingPackages.join(' ')}\`, or unset it.`,
    );
  });
  return exportTraces();
}
