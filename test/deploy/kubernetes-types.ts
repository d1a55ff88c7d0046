/**
 * Checks manifests against the API of Kubernetes, KEDA and the Prometheus operator, as npm has it: the JSON schemas, and the types for
 * TypeScript, which also reject unknown names.
 */
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../cli/command.ts';
import type { Manifest } from './helm.ts';

const run = promisify(execFile);

type Model = new (data: Manifest) => { validate(): void };

const moduleOf: Readonly<Record<string, string>> = {
  'apps/v1': 'kubernetes-models/apps/v1',
  'autoscaling/v2': 'kubernetes-models/autoscaling/v2',
  'keda.sh/v1alpha1': '@kubernetes-models/keda/keda.sh/v1alpha1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'policy/v1': 'kubernetes-models/policy/v1',
  v1: 'kubernetes-models/v1',
};

/** Throws for a value that the schema of its kind rejects. */
export async function validate(manifest: Manifest): Promise<void> {
  const models = (await import(moduleOf[manifest.apiVersion] ?? '')) as Readonly<Record<string, Model>>;
  const model = models[manifest.kind];
  if (model === undefined) throw new Error(`Unknown kind: ${manifest.apiVersion} ${manifest.kind}.`);
  new model(manifest).validate();
}

/** The compiler's errors for the manifests as values of the types: '' if all names and values are valid. */
export async function typeErrors(folder: string, manifests: readonly Manifest[]): Promise<string> {
  const lines = manifests.map((manifest, index) => {
    const type = `import('${moduleOf[manifest.apiVersion]}').I${manifest.kind}`;
    return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)};`;
  });
  const file = join(folder, 'manifests.ts');
  await writeFile(file, lines.join('\n'));
  await symlink(join(repository, 'test/modules/node_modules'), join(folder, 'node_modules')).catch(
    () => undefined,
  );
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
  ];
  try {
    await run(process.execPath, [compiler, ...options, file], { cwd: folder });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
