import { registerGlobalApi } from '../../tracing/global-api.ts';
import { contexts } from './context.ts';
import { propagator } from './propagator.ts';
import { RunTracer } from './tracer.ts';

/** Of the newest API that this works with, for projects without one. */
const knownVersion = '1.9.1';

const provider = { getTracer: (name: string) => new RunTracer(name) };

/**
 * Makes every copy of `@opentelemetry/api` in this process store its spans with the run that makes them. To be called before task files are
 * imported. `version` is that of the project's copy: copies refuse to register anything beside a global of another version.
 */
export const registerTracing = (version = knownVersion): boolean =>
  registerGlobalApi({
    version,
    trace: provider,
    context: contexts,
    propagation: propagator,
  });
