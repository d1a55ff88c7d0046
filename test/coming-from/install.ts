/** Installs the systems of the pages in docs/coming-from, whose programs the tests run: `node test/coming-from/install.ts peers`. */
import { join } from 'node:path';
import { installOnce } from '../support/install-once.ts';

const [folder = 'peers'] = process.argv.slice(2);
installOnce(
  join(import.meta.dirname, folder),
  `test/coming-from/${folder}, once for each version of its lockfile`,
);
