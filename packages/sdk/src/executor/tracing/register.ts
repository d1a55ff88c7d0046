import { registerGlobalApi } from '../../tracing/global-api.ts';
import { contexts } from './context.ts';
import { propagator } from './propagator.ts';
import { RunTracer } from './tracer.ts';

/** The newest supported version of the API, for projects without a copy of their own. */
const newestVersion = '1.9.1';

const provider = { getTracer: (name: string) => new RunTracer(name) };

/**
 * Makes every copy of `@opentelemetry/api` in this process store its spans with the run that creates them. Must be called before task files
 * are imported. `version` is that of the project's copy: a copy refuses to register anything alongside a global of a different version.
 */
export const registerTracing = (version = newestVersion): boolean =>
  registerGlobalApi({
    version,
    trace: provider,
    context: contexts,
    propagation: propagator,
  });
