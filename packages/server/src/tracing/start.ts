/**
 * OpenTelemetry traces, configured by the standard environment variables. Without an endpoint, OpenTelemetry is not loaded and nothing is
 * measured.
 */
import type { Tracing } from './tracing.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/** A package that most servers do not need is not installed. The message has the command that installs it. */
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

/** Returns undefined if no endpoint is set, or tracing is switched off. Throws OptionalPackageMissing if a package is missing. */
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
