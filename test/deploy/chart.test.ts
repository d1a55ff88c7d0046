import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretsFromFiles } from '../../packages/millrace/src/cli/secret-files.ts';
import { hasHelm, installHelm, lint, podOf, render, type Manifest } from './helm.ts';
import { typeErrors, validate } from './kubernetes-types.ts';

const values = {
  images: {
    server: { repository: 'registry.example.com/millrace/server' },
    runner: { repository: 'registry.example.com/millrace/runner' },
  },
  database: { existingSecret: 'millrace' },
  masterKey: { existingSecret: 'millrace' },
};
const pool = { name: 'default', environment: 'prod', existingSecret: 'millrace' };
/** Every object that the chart can create. */
const everything = {
  ...values,
  imagePullSecrets: [{ name: 'registry' }],
  database: { existingSecret: 'millrace', directUrlKey: 'direct' },
  masterKey: { existingSecret: 'millrace', previousKey: 'master-key-previous' },
  server: {
    trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
    bootstrap: {
      existingSecret: 'millrace',
      keys: { prodSecretKey: 'prod-secret-key', accessToken: 'access-token' },
    },
    extraEnv: [{ name: 'MILLRACE_MAX_BUNDLE', value: '256MiB' }],
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    podAnnotations: { 'example.com/team': 'tasks' },
  },
  ingress: { enabled: true, className: 'nginx', host: 'tasks.example.com', tlsSecret: 'tls' },
  metrics: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
  networkPolicy: {
    serverFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    database: { to: [{ ipBlock: { cidr: '10.1.2.3/32' } }] },
  },
  runners: [
    pool,
    { ...pool, name: 'cpu', autoscaling: { type: 'hpa', max: 5 } },
    {
      ...pool,
      name: 'gpu',
      labels: ['gpu', 'cuda:12'],
      concurrency: 2,
      graceSeconds: 600,
      autoscaling: { type: 'keda', min: 0, max: 8 },
    },
  ],
};

let folder: string;
let helm: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-chart-'));
  if (hasHelm) helm = await installHelm(join(folder, 'bin'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const rendered = (input: unknown): Promise<Manifest[]> => render(helm, folder, input);

const named = (manifests: readonly Manifest[]): string[] =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();

describe.skipIf(!hasHelm)(`the chart${hasHelm ? '' : ' (skipped: set HELM)'}`, () => {
  test('passes helm lint, with few values and with many', async () => {
    for (const input of [values, everything])
      expect(await lint(helm, folder, input)).toContain('0 chart(s) failed');
  });

  test('creates valid objects of Kubernetes, KEDA and the Prometheus operator, without an unknown name', async () => {
    const manifests = await rendered(everything);
    expect(named(manifests)).toEqual([
      'Deployment tasks-millrace',
      'Deployment tasks-millrace-runner-cpu',
      'Deployment tasks-millrace-runner-default',
      'Deployment tasks-millrace-runner-gpu',
      'HorizontalPodAutoscaler tasks-millrace-runner-cpu',
      'Ingress tasks-millrace',
      'NetworkPolicy tasks-millrace-runner',
      'NetworkPolicy tasks-millrace-server',
      'PodDisruptionBudget tasks-millrace',
      'PodDisruptionBudget tasks-millrace-runner-cpu',
      'PodDisruptionBudget tasks-millrace-runner-default',
      'PodDisruptionBudget tasks-millrace-runner-gpu',
      'ScaledObject tasks-millrace-runner-gpu',
      'Service tasks-millrace',
      'Service tasks-millrace-metrics',
      'ServiceMonitor tasks-millrace',
    ]);
    await Promise.all(manifests.map(validate));
    expect(await typeErrors(folder, manifests)).toBe('');
    await Promise.all((await rendered(values)).map(validate));
  });

  test('is checked by validators that find a misspelled name and a wrong value', async () => {
    const [manifest] = await rendered(values);
    const misspelt = { ...manifest!, spec: { ...manifest!.spec, policyTipes: ['Ingress'] } };
    expect(await typeErrors(folder, [misspelt])).toContain('policyTipes');
    await expect(validate({ ...manifest!, spec: { podSelector: 7 } })).rejects.toThrow('podSelector');
  });

  test('keeps all pods within the standard "restricted", without a token and without service variables', async () => {
    const manifests = await rendered(everything);
    for (const { metadata } of manifests.filter(({ kind }) => kind === 'Deployment')) {
      const pod = podOf(manifests, metadata.name);
      expect(pod, metadata.name).toMatchObject({
        automountServiceAccountToken: false,
        // A Service named millrace would set MILLRACE_PORT.
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod.containers[0].securityContext, metadata.name).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      // 0440 in decimal.
      expect(JSON.stringify(pod.volumes), metadata.name).toContain('"defaultMode":288');
    }
  });

  test('gives a pod longer than its containers need to stop', async () => {
    const manifests = await rendered(everything);
    expect(podOf(manifests, 'tasks-millrace').terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      5 + 5 + 2,
    );
    const gpu = podOf(manifests, 'tasks-millrace-runner-gpu');
    expect(gpu.containers[0].args).toEqual([
      'work',
      '--env=prod',
      '--concurrency=2',
      '--grace=600s',
      '--label=gpu',
      '--label=cuda:12',
    ]);
    expect(gpu.terminationGracePeriodSeconds).toBeGreaterThan(600 + 2);
  });

  test('scales by the metrics that docs/metrics.md names, and has no autoscaler by default', async () => {
    const manifests = await rendered(everything);
    const scaled = manifests.find(({ kind }) => kind === 'ScaledObject');
    expect(scaled?.spec).toMatchObject({
      minReplicaCount: 0,
      maxReplicaCount: 8,
      triggers: [
        {
          type: 'prometheus',
          metadata: {
            query:
              '(sum(max by (queue) (millrace_runs_waiting{environment="prod", state="ready"})) or vector(0))' +
              ' + (sum(max by (queue) (millrace_runs_executing{environment="prod"})) or vector(0))',
            threshold: '2',
          },
        },
      ],
    });
    // Otherwise each upgrade would reset the number that an autoscaler has set.
    const replicas = (name: string) =>
      manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)?.spec[
        'replicas'
      ];
    expect(replicas('tasks-millrace-runner-gpu')).toBeUndefined();
    expect(replicas('tasks-millrace-runner-cpu')).toBeUndefined();
    expect(replicas('tasks-millrace-runner-default')).toBe(2);
    const single = named(await rendered({ ...values, server: { replicas: 1 } }));
    expect(single).not.toContain('PodDisruptionBudget tasks-millrace');
  });

  test('sets only secret variables that are read, to mounted files', async () => {
    const manifests = await rendered(everything);
    const known = new Set<string>(secretsFromFiles.map((name) => `${name}_FILE`));
    for (const name of ['tasks-millrace', 'tasks-millrace-runner-default']) {
      const pod = podOf(manifests, name);
      for (const { name: variable, value } of pod.containers[0].env) {
        if (!variable.endsWith('_FILE')) continue;
        expect(known, name).toContain(variable);
        expect(value, variable).toMatch(/^\/run\/secrets\/millrace\//);
        expect(JSON.stringify(pod.volumes), variable).toContain(`"path":"${value.split('/').at(-1)}"`);
      }
    }
    expect(JSON.stringify(manifests)).not.toContain('"kind":"Secret"');
  });

  test.each<[string, unknown, string | RegExp]>([
    ['a missing secret', { ...values, database: {} }, 'database.existingSecret must name a Secret'],
    ['a missing image', { ...values, images: {} }, 'images.server.repository must name the image'],
    ['an unknown name', { ...values, server: { replica: 3 } }, 'replica is not allowed'],
    ['no server', { ...values, server: { replicas: 0 } }, /server[./]replicas/],
    ['text for a number', { ...values, service: { port: 'http' } }, /service[./]port/],
    [
      'an unknown environment',
      { ...values, runners: [{ ...pool, environment: 'production' }] },
      'environment',
    ],
    ['a pool without a key', { ...values, runners: [{ name: 'a', environment: 'prod' }] }, 'existingSecret'],
    ['a label with a comma', { ...values, runners: [{ ...pool, labels: ['a,b'] }] }, 'labels'],
    ['a pool with an invalid name', { ...values, runners: [{ ...pool, name: 'GPU' }] }, 'name'],
    ['two pools with one name', { ...values, runners: [pool, pool] }, 'two pools are named default'],
    [
      'an autoscaler with swapped limits',
      { ...values, runners: [{ ...pool, autoscaling: { type: 'keda', min: 9, max: 3 } }] },
      'autoscaling.min of pool default is above autoscaling.max',
    ],
    [
      'a HorizontalPodAutoscaler with a minimum of 0',
      { ...values, runners: [{ ...pool, autoscaling: { type: 'hpa', min: 0 } }] },
      'autoscaling.min of pool default must be 1 or more',
    ],
    [
      'required metrics that are off',
      { ...values, metrics: { enabled: false }, runners: [{ ...pool, autoscaling: { type: 'keda' } }] },
      'which metrics.enabled switches off',
    ],
    ['an ingress without a name', { ...values, ingress: { enabled: true } }, 'ingress.host must be'],
  ])('rejects %s, and names it', async (_what, input, message) => {
    const refused = await rendered(input).then(
      () => '',
      (error: { stderr: string }) => error.stderr,
    );
    // Helm 3 writes an additional name as `replica is not allowed`, Helm 4 as `'replica' not allowed`.
    expect(refused.replaceAll("'replica' not allowed", 'replica is not allowed')).toMatch(message);
  });
});
