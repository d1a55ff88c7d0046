import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Processes that tests start use the bundles. Takes two seconds after a change, and nothing otherwise. */
export default function setup(): void {
  const program = fileURLToPath(new URL('../../build/bundle.ts', import.meta.url));
  execFileSync(process.execPath, [program], { stdio: 'inherit' });
}
