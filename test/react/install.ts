/** Installs the oldest React that the hooks support: `node test/react/install.ts`. */
import { join } from 'node:path';
import { installOnce } from '../support/install-once.ts';

installOnce(join(import.meta.dirname, 'react-18'), 'React 18, once for each version of its lockfile');
