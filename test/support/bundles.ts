import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Processes that tests start use the bundles, and servers serve the built dashboard. Takes seconds after a change, and nothing otherwise. */
export default function setup(): void {
  // In this order: building the dashboard uses the bundles.
  for (const program of ['build/bundle.ts', 'packages/dashboard/build.ts'])
    execFileSync(process.execPath, [fileURLToPath(new URL(`../../${program}`, import.meta.url))], {
      stdio: 'inherit',
    });
}
