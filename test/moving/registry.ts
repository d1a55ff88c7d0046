import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { repository } from '../cli/command.ts';
import { published, run, type Packed } from '../packages/packed.ts';

/** A registry with our packed packages. It gets all others from npm's configured registry. */
export async function startRegistry({ tarballs }: Packed): Promise<string> {
  const { stdout } = await run('npm', ['config', 'get', 'registry'], { cwd: repository });
  const upstream = stdout.trim().replace(/\/$/, '');
  const files = new Map<string, Buffer>();
  const manifests = new Map<string, { name: string; version: string; dist: object }>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const tarball = files.get(path);
    const manifest = manifests.get(path);
    // pnpm first requests the latest version.
    const latest = manifests.get(path.replace(/\/latest$/, ''));
    if (tarball) response.end(tarball);
    else if (manifest) {
      const { name, version } = manifest;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: manifest } }),
      );
    } else if (latest) response.end(JSON.stringify(latest));
    else response.writeHead(302, { location: `${upstream}${request.url}` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const folder of published) {
    const file = tarballs[folder];
    const content = await readFile(file);
    const text = await readFile(join(repository, 'packages', folder, 'package.json'), 'utf8');
    const manifest = JSON.parse(text) as { name: string; version: string };
    const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
    files.set(`tarballs/${basename(file)}`, content);
    manifests.set(manifest.name, {
      ...manifest,
      dist: { tarball: `${url}/tarballs/${basename(file)}`, integrity },
    });
  }
  return url;
}
