/** A private registry: it requires a token, and serves the packages of `programs`. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { programs } from './programs.ts';

export interface Registry {
  readonly url: string;
  readonly token: string;
  /** The paths of all requests, in order. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

interface Locked extends Readonly<Record<string, unknown>> {
  readonly version: string;
}

/** Packages for other platforms are not installed: only their package.json is served. */
export async function startRegistry(): Promise<Registry> {
  const { packages } = JSON.parse(await readFile(join(programs, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const token = 'token-of-a-private-registry';
  const requests: string[] = [];
  const tarballs = new Map<string, Promise<Buffer>>();
  const tarballOf = (name: string, locked: Locked): Promise<Buffer> => {
    const tarball = tarballs.get(name) ?? pack(name, locked);
    tarballs.set(name, tarball);
    return tarball;
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    requests.push(path);
    const [, name = '', file] = /^\/((?:@[^/]+\/)?[^/]+)(\/-\/.*)?$/.exec(path) ?? [];
    const locked = packages[`node_modules/${name}`];
    if (request.headers.authorization !== `Bearer ${token}`) response.writeHead(401).end('{}');
    else if (locked === undefined) response.writeHead(404).end('{}');
    else
      void tarballOf(name, locked).then(async (tarball) => {
        if (file !== undefined) return response.end(tarball);
        const manifest = { name, ...(await manifestOf(name, locked)) };
        const dist = {
          tarball: `${url}/${name}/-/package-${locked.version}.tgz`,
          shasum: createHash('sha1').update(tarball).digest('hex'),
          integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
        };
        response.setHeader('content-type', 'application/json');
        return response.end(
          JSON.stringify({
            name,
            'dist-tags': { latest: locked.version },
            versions: { [locked.version]: { ...manifest, dist } },
            time: { [locked.version]: '2026-01-01T00:00:00.000Z' },
          }),
        );
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    token,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const folderOf = (name: string): string => join(programs, 'node_modules', name);

async function manifestOf(name: string, locked: Locked): Promise<Readonly<Record<string, unknown>>> {
  if (existsSync(folderOf(name)))
    return JSON.parse(await readFile(join(folderOf(name), 'package.json'), 'utf8')) as Locked;
  const { version, os, cpu, libc, dependencies, optionalDependencies } = locked;
  return { name, version, os, cpu, libc, dependencies, optionalDependencies };
}

async function pack(name: string, locked: Locked): Promise<Buffer> {
  const files = new Map<string, Buffer>();
  if (existsSync(folderOf(name)))
    for (const entry of await readdir(folderOf(name), { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile()) files.set(file.slice(folderOf(name).length + 1), await readFile(file));
    }
  else files.set('package.json', Buffer.from(JSON.stringify(await manifestOf(name, locked))));
  const entries = [...files].map(([path, body]) => ({
    header: { name: `package/${path}`, size: body.length, type: 'file' as const, mtime: new Date(0) },
    body,
  }));
  return gzipSync(await packTar(entries));
}
