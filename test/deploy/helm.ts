/** The real Helm. npm has it in a package for AWS functions: Helm 3.8, for 64-bit Intel Linux. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { parseAllDocuments, stringify } from 'yaml';
import { repository } from '../cli/command.ts';

const run = promisify(execFile);
const chart = join(repository, 'deploy/helm/millrace');

/** `HELM` names another one. */
export const hasHelm =
  process.env['HELM'] !== undefined || (process.platform === 'linux' && process.arch === 'x64');

/** Writes the program into the folder and returns its path. */
export async function installHelm(folder: string): Promise<string> {
  const configured = process.env['HELM'];
  if (configured !== undefined) return configured;
  const main = createRequire(import.meta.url).resolve('@aws-cdk/asset-kubectl-v20');
  const archive = unzipSync(await readFile(join(dirname(main), 'layer.zip')), {
    filter: ({ name }) => name === 'helm/helm',
  });
  const program = join(folder, 'helm');
  await mkdir(folder, { recursive: true });
  await writeFile(program, archive['helm/helm'] ?? '', { mode: 0o755 });
  return program;
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Item {
  readonly key: string;
  readonly path: string;
}
interface Source {
  readonly items: readonly Item[];
}
export interface Pod {
  readonly containers: readonly [
    {
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
      readonly securityContext: unknown;
    },
  ];
  readonly terminationGracePeriodSeconds: number;
  readonly volumes: readonly {
    readonly secret?: Source;
    readonly projected?: { readonly sources: readonly { readonly secret: Source }[] };
  }[];
}

const deploymentOf = (manifests: readonly Manifest[], name: string): Manifest => {
  const found = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
  if (found === undefined) throw new Error(`No Deployment ${name} in the chart.`);
  return found;
};

export const podOf = (manifests: readonly Manifest[], name: string): Pod =>
  (deploymentOf(manifests, name).spec['template'] as { readonly spec: Pod }).spec;

/** The output of `helm lint --strict` for the chart with these values. */
export async function lint(helm: string, folder: string, values: unknown): Promise<string> {
  return (await run(helm, ['lint', chart, '--strict', '-f', await valuesFile(folder, values)])).stdout;
}

/** The output of `helm template` for the chart, read as Kubernetes reads it: as YAML 1.1, where 0440 is octal. */
export async function render(helm: string, folder: string, values: unknown): Promise<Manifest[]> {
  const { stdout } = await run(
    helm,
    ['template', 'tasks', chart, '--kube-version', '1.33.0', '-f', await valuesFile(folder, values)],
    { maxBuffer: 16 * 1024 * 1024 },
  );
  return parseAllDocuments(stdout, { version: '1.1' })
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

async function valuesFile(folder: string, values: unknown): Promise<string> {
  const file = join(folder, 'values.yaml');
  await writeFile(file, stringify(values));
  return file;
}
