import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { sourceAliases } from '../../build/source-aliases.ts';
import { layersPlugin } from './layers-plugin.ts';
import { rolesPlugin } from './roles-plugin.ts';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const server = process.env['MILLRACE_API_URL'] ?? 'http://127.0.0.1:4400';

export default defineConfig({
  root: folder('.'),
  // Assets are found from the page's base, which the server sets.
  base: './',
  plugins: [react(), rolesPlugin(), layersPlugin()],
  resolve: { alias: sourceAliases() },
  // `npm run dev`: the sources, with a server that is running already.
  server: { proxy: { '/api': server, '/realtime': server } },
  build: {
    outDir: folder('../server/dashboard'),
    emptyOutDir: true,
    target: 'es2023',
    sourcemap: false,
    // The content security policy allows no data: in scripts and styles.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
