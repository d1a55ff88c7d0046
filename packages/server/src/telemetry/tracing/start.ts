/**
 * OpenTelemetry, configured by the standard environment variables. Without an endpoint, OpenTelemetry is not loaded and nothing is
 * measured.
 */
import type { Tracing } from './tracing.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/** A package that most servers do not need is not installed. The message contains the command that installs it. */
export class OptionalPackageMissing extends Error {
  override readonly name = 'OptionalPackageMissing';
}

/** The packages that the exports import, as package.json names them under `peerDependencies`. */
export const tracingPackages = [
  '@opentelemetry/api@1',
  '@opentelemetry/api-logs@0.223',
  '@opentelemetry/exporter-logs-otlp-http@0.223',
  '@opentelemetry/exporter-trace-otlp-http@0.223',
  '@opentelemetry/resources@2',
  '@opentelemetry/sdk-logs@0.223',
  '@opentelemetry/sdk-trace-base@2',
];

/** Returns undefined if no endpoint is set, or everything is switched off. Throws OptionalPackageMissing if a package is missing. */
export async function startTracing(settings: Settings = process.env): Promise<Tracing | undefined> {
  const sends = { traces: isOn(settings, 'TRACES'), logs: isOn(settings, 'LOGS') };
  if ((!sends.traces && !sends.logs) || settings['OTEL_SDK_DISABLED'] === 'true') return undefined;
  const { exportTelemetry } = await import('./export.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('@opentelemetry/')) throw error;
    throw new OptionalPackageMissing(
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, but the OpenTelemetry packages are not installed. Run \`npm install ${tracingPackages.join(' ')}\`, or unset it.`,
    );
  });
  return exportTelemetry(sends);
}

const isOn = (settings: Settings, signal: 'TRACES' | 'LOGS'): boolean =>
  Boolean(settings[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || settings['OTEL_EXPORTER_OTLP_ENDPOINT']) &&
  settings[`OTEL_${signal}_EXPORTER`] !== 'none';
