/** Installs a folder of packages that some tests use, from its lockfile: `node test/support/install-folder.ts test/coming-from/peers`. */
import { join } from 'node:path';
import { installOnce } from './install-once.ts';

const [folder = ''] = process.argv.slice(2);
installOnce(join(import.meta.dirname, '../..', folder), `${folder}, once for each version of its lockfile`);
