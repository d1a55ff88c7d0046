import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort } from '../../packages/postgres/src/cluster/free-port.ts';

/** The programs from PATH. Undefined if not installed. */
const isInstalled = ['prometheus', 'promtool'].every((program) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
export const hasPrometheus = isInstalled;

/** A suffix for test titles that names the missing program. */
export const unlessMissing = isInstalled ? '' : ' (skipped: install prometheus)';

/** Runs promtool. Throws its output if it fails. */
export const promtool = (...parameters: string[]): string =>
  execFileSync('promtool', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

export interface TestPrometheus {
  /** The `data` of an API response. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the test checks the content of the reply
  get(path: string): Promise<any>;
  /** The samples of an instant query. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
}

/** A Prometheus that scrapes an address each second, until the test ends. */
export async function startPrometheus(
  metricsUrl: string,
  { rules, flags = [] }: { readonly rules: string; readonly flags?: readonly string[] },
): Promise<TestPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-prometheus-'));
  const { host, pathname } = new URL(metricsUrl);
  await writeFile(join(folder, 'rules.yml'), rules);
  await writeFile(
    join(folder, 'prometheus.yml'),
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
scrape_configs:
  - job_name: millrace
    metrics_path: ${pathname}
    static_configs: [{ targets: ['${host}'] }]
`,
  );
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      ...flags,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (text: Buffer) => (log += text.toString()));
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const get: TestPrometheus['get'] = async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return ((await response.json()) as { data: unknown }).data;
  };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`Prometheus did not start: ${log}`);
    if (
      await fetch(`http://127.0.0.1:${port}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    await pause(50);
  }
  return {
    get,
    query: async (expression) => (await get(`query?query=${encodeURIComponent(expression)}`)).result,
  };
}
