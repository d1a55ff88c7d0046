/**
 * Records a split of the corpus: `node generate.ts train --old-node <path> --postgres <url> [--folder <temporary folder>]`.
 * Installs the libraries in a temporary folder, builds each variant, runs it and writes `<split>.ndjson` beside this file.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { libraries, variants } from './variants.ts';
import type { Variant } from './variants.ts';
import { startStub } from './stub.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'old-node': { type: 'string' }, postgres: { type: 'string' }, folder: { type: 'string' } },
});
const split = positionals[0] ?? 'train';
const specs = libraries[split];
const oldNode = values['old-node'];
const postgres = values.postgres;
if (!specs || !oldNode || !postgres) throw new Error('Give a split (train, heldout), --old-node <path of Node 20> and --postgres <url>.');
const here = import.meta.dirname;
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'fingerprint-corpus-'));

function run(command: string, args: string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
}

function install(name: string, add: (cwd: string) => void): string {
  const target = join(folder, `${split}-${name}`);
  if (existsSync(join(target, 'node_modules'))) return target;
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  add(target);
  return target;
}

function prepare(variant: Variant, installed: string): string {
  const target = join(folder, `${split}-run`, variant.name);
  rmSync(target, { recursive: true, force: true });
  const sources = join(target, 'src');
  mkdirSync(sources, { recursive: true });
  writeFileSync(join(target, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  for (const part of ['scene', split]) cpSync(join(here, part), sources, { recursive: true });
  // A copy rather than a link where the real path would show another folder: pnpm's own links stay links.
  cpSync(join(installed, 'node_modules'), join(target, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  if (!variant.build) return target;
  const output = `--outfile=${join('dist', variant.entry)}`;
  run(join(tools, 'node_modules/.bin/esbuild'), [join('src', 'app.js'), ...variant.build, output, '--log-level=error'], target);
  return target;
}

async function record(variant: Variant, target: string, http: string): Promise<string[]> {
  const node = variant.node === 'old' ? oldNode! : process.execPath;
  const entry = variant.build ? join('dist', variant.entry) : join('src', variant.entry);
  const child = spawn(node, [...(variant.sourceMaps ? ['--enable-source-maps'] : []), entry], {
    cwd: target,
    env: { PATH: process.env.PATH, SCENE_SEEDS: variant.seeds.join(','), SCENE_HTTP: http, SCENE_PG: postgres, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (complaints) process.stderr.write(`${variant.name}: ${complaints.slice(0, 1500)}\n`);
  if (code !== 0) throw new Error(`${variant.name} ended with ${String(code)}`);
  const neutral = output.replaceAll(target, variant.root).replaceAll(folder, '/builds');
  return neutral.split('\n').filter(Boolean).map((line) => neutralLine(line, variant.name));
}

function neutralLine(line: string, variant: string): string {
  const { label, taskIdentifier, name, message, stack } = JSON.parse(line) as Record<string, string | undefined>;
  const short = (text: string | undefined, limit: number) => text?.slice(0, limit);
  return JSON.stringify({ label, variant, taskIdentifier, name, message: short(message, 2500), stack: short(stack, 5000) });
}

const tools = install('tools', (cwd) => run('npm', ['install', '--no-audit', '--no-fund', 'esbuild@0.25', 'pnpm@9'], cwd));
const installed = {
  'flat-latest': install('latest', (cwd) => run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...specs.latest], cwd)),
  'pnpm-older': install('older', (cwd) => run(join(tools, 'node_modules/.bin/pnpm'), ['add', '--ignore-scripts', ...specs.older], cwd)),
};
const stub = await startStub();
const lines: string[] = [];
for (const variant of variants) {
  const target = prepare(variant, installed[variant.libraries]);
  const recorded = await record(variant, target, stub.url);
  process.stderr.write(`${variant.name}: ${recorded.length}\n`);
  lines.push(...recorded);
}
stub.stop();
writeFileSync(join(here, `${split}.ndjson`), `${lines.join('\n')}\n`);
