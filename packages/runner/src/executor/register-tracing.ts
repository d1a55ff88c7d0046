import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Sdk } from './sdk.ts';

/** Lets the OpenTelemetry API of the project store spans with its runs. Does not load OpenTelemetry itself. */
export function registerTracing(sdk: Sdk): void {
  // A project's SDK may be older and lack it.
  (sdk as Partial<Sdk>).registerTracing?.(apiVersion());
}

/** The version of the project's copy of the API; undefined without one. */
function apiVersion(): string | undefined {
  try {
    const manifest = createRequire(join(process.cwd(), 'millrace.js')).resolve(
      '@opentelemetry/api/package.json',
    );
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version;
  } catch {
    return undefined;
  }
}
