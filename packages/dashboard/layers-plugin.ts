import type { Plugin } from 'vite';

/** Later ones win regardless of load order: every style sheet declares the order. */
const order = '@layer reset, base, parts, frame, pages;\n';

/** Style sheets come with the pages that need them, in any order. */
export const layersPlugin = (): Plugin => ({
  name: 'millrace-layers',
  enforce: 'pre',
  transform: (code, id) =>
    /\/dashboard\/src\/.*\.css$/.test(id) ? { code: order + code, map: null } : undefined,
});
