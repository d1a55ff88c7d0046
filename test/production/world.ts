/** The machines of docs/production.md, as folders on this machine. */
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { inherited, repository, type Running } from '../cli/command.ts';
import { packAll, run } from '../packages/packed.ts';
import { freePort } from '../../packages/postgres/src/cluster/free-port.ts';
import { authorityIn, type CaddyPorts } from './caddy.ts';
import type { Replacements } from './page.ts';
import { postgresPrograms } from './programs.ts';
import { machine, type Machine } from './terminal.ts';

export interface World {
  /** The root of all machines. */
  readonly folder: string;
  /** The local substitute for https://tasks.example.com. */
  readonly url: string;
  /** The port of servers. */
  readonly port: number;
  readonly caddy: CaddyPorts;
  /** The folder in which Caddy stores its authority. */
  readonly data: string;
  /** The command, as npm installs it without optional packages. */
  readonly bin: string;
  /** The variables of every machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Opens a machine. Replacements for addresses that are not known from the start are applied first. */
  open(name: string, more?: Replacements, env?: Readonly<Record<string, string>>): Promise<Machine>;
  /** Cleanup functions, called in reverse order. */
  readonly ends: (() => Promise<unknown>)[];
  end(): Promise<void>;
}

const flags = '--prefer-offline --no-audit --no-fund';

export async function startWorld(): Promise<World> {
  const packed = await packAll();
  const { folder } = packed;
  const { testing: _, ...needed } = packed.tarballs;
  const tarballs = Object.values(needed).join(' ');
  const started: Running[] = [];
  const port = await freePort();
  const caddy = { http: await freePort(), https: await freePort() };
  const data = join(folder, 'data');
  const at = (name: string): string => join(folder, name);
  const installed = at('installed');

  // Nothing from this repository: `npx` must find only the packages that the page installs.
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.startsWith(repository));
  const env = {
    PATH: [dirname(process.execPath), postgresPrograms ?? '', ...path].join(delimiter),
    XDG_DATA_HOME: data,
    NODE_EXTRA_CA_CERTS: authorityIn(data),
    npm_config_cache: process.env['npm_config_cache'] ?? join(homedir(), '.npm'),
    npm_config_userconfig: process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc'),
    npm_config_update_notifier: 'false',
    npm_config_yes: 'false',
  };
  for (const shared of [installed, data, at('vault'), at('backup')]) await mkdir(shared);
  await run(
    'npm',
    ['install', '--prefix', installed, '--omit=optional', ...flags.split(' '), ...tarballs.split(' ')],
    {
      cwd: folder,
      env: { ...inherited, ...env },
    },
  );

  const replacements = (name: string): Replacements => [
    // Packages that are not published yet. All machines except the laptop have the same packages.
    ['npx millrace init', `${installed}/node_modules/.bin/millrace init`],
    [/^npm install$/m, `npm install ${flags} ${tarballs}`],
    [/^npm install --prefix (\S+) --omit=optional millrace$/m, `cp -alf ${installed}/. $1`],
    // Docker is not available: see compose.ts.
    ['docker compose -f deploy/compose.yaml up --detach --build --wait', 'printenv MILLRACE_DOMAIN'],
    // One machine has all addresses, and any port may be in use.
    ['npx millrace dev', 'npx millrace dev --port 0'],
    ['scp ', 'cp '],
    ['tasks.example.com:millrace', at('clone')],
    ['10.0.0.11:/srv/millrace', at('server-1/millrace')],
    ['10.0.0.12:/srv/millrace', at('server-2/millrace')],
    ['vault.example.com:millrace', at('vault')],
    ['backup.example.com:', at('backup/')],
    ['/srv/millrace', at(`${name}/millrace`)],
    ['tasks.example.com', `localhost:${caddy.https}`],
    ['10.0.0.0/24', '127.0.0.0/8'],
    ['10.0.0.10', '127.0.0.1'],
    ['10.0.0.11', '127.0.0.11'],
    ['10.0.0.12', '127.0.0.12'],
    [/:4400\b/g, `:${port}`],
  ];
  const ends: (() => Promise<unknown>)[] = [];
  return {
    folder,
    url: `https://localhost:${caddy.https}`,
    port,
    caddy,
    data,
    bin: join(installed, 'node_modules/millrace/bin/millrace.js'),
    env,
    async open(name, more = [], own = {}) {
      const home = join(at(name), 'home');
      await mkdir(home, { recursive: true });
      if (name !== 'server-1') await mkdir(at(`${name}/millrace`), { recursive: true });
      const all = {
        ...env,
        HOME: home,
        XDG_CONFIG_HOME: join(home, '.config'),
        XDG_CACHE_HOME: join(home, '.cache'),
        MILLRACE_PORT: String(port),
        ...own,
      };
      return machine(at(name), all, [...more, ...replacements(name)], started);
    },
    ends,
    async end() {
      for (const process of started) process.kill('SIGKILL');
      await Promise.all(started.map((child) => child.exitCode));
      for (const end of ends.toReversed()) await end();
      await packed.remove();
    },
  };
}

/** The last token, key or run id that a command printed. */
export function lastIn(text: string, pattern: RegExp): string {
  const found = text.match(new RegExp(pattern, 'g'))?.at(-1);
  if (found === undefined) throw new Error(`No match of ${pattern} in:\n${text}`);
  return found;
}
