/**
 * Metrics over OTLP/HTTP, configured by the standard environment variables of OpenTelemetry. Without an endpoint, OpenTelemetry is not loaded.
 */
import type { MetricFamily } from '../exposition/family.ts';
import { OptionalPackageMissing } from '../tracing/start.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/** The packages that export-otlp.ts imports, as package.json names them under `peerDependencies`. */
export const metricsPackages = [
  '@opentelemetry/exporter-metrics-otlp-http@0.223',
  '@opentelemetry/resources@2',
  '@opentelemetry/sdk-metrics@2',
];

/** Returns undefined if no endpoint is set, or metrics are switched off. Throws OptionalPackageMissing if a package is missing. */
export async function startOtlpMetrics(
  collect: () => Promise<readonly MetricFamily[]>,
  settings: Settings = process.env,
): Promise<{ stop(): Promise<void> } | undefined> {
  const endpoint = settings['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'] || settings['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const isOff = settings['OTEL_SDK_DISABLED'] === 'true' || settings['OTEL_METRICS_EXPORTER'] === 'none';
  if (!endpoint || isOff) return undefined;
  const { exportMetrics } = await import('./export-otlp.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('@opentelemetry/')) throw error;
    throw new OptionalPackageMissing(
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages that send metrics are not installed. Run \`npm install ${metricsPackages.join(' ')}\`, or set OTEL_METRICS_EXPORTER=none.`,
    );
  });
  return exportMetrics(collect, intervalOf(settings['OTEL_METRIC_EXPORT_INTERVAL']));
}

const intervalOf = (text: string | undefined): number => {
  const ms = Number(text);
  return text !== undefined && text !== '' && ms >= 100 ? ms : 60_000;
};
