/** The site contains the text of files and folders of the repository that pages link to, and that are not pages themselves. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Paths in the repository. */
const linked = new Set<string>();

/** The address of the text of a file or folder. The ending makes browsers show it. */
export function textAddress(path: string): string {
  linked.add(path);
  return `/files/${path}.txt`;
}

/** The text of a file, or of all files of a folder, each below its path. */
function textOf(path: string): string {
  const whole = join(repository, path);
  if (!statSync(whole).isDirectory()) return readFileSync(whole, 'utf8');
  return readdirSync(whole, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((file) => `==> ${relative(repository, file)}\n\n${readFileSync(file, 'utf8')}`)
    .join('\n');
}

/** At the end of a build. */
export function writeTexts(site: string): void {
  for (const path of linked) {
    const file = join(site, textAddress(path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, textOf(path));
  }
}

/** The same where the site is served without a build. */
export const serveTexts = (): Plugin => ({
  name: 'linked-files',
  configureServer(server) {
    server.middlewares.use((request, reply, next) => {
      const path = [...linked].find((file) => request.url === textAddress(file));
      if (path === undefined) return next();
      reply.setHeader('content-type', 'text/plain; charset=utf-8').end(textOf(path));
    });
  },
});
