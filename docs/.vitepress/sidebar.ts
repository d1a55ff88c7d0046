/** The pages by topic. A test asserts that every page of docs/ is here. */
import { tags } from './reference.ts';

const page = (name: string, text: string) => ({ text, link: `/docs/${name}` });

export const sidebar = [
  {
    text: 'Get started',
    items: [
      { text: 'Millrace', link: '/' },
      page('local-development', 'Local development'),
      page('production', 'From a laptop to production'),
      page('demo', 'The demo'),
      page('frameworks', 'Web frameworks'),
      page('guarantees', 'Guarantees'),
      page('comparison', 'Comparison'),
      page('glossary', 'Glossary'),
    ],
  },
  {
    text: 'Migrate from',
    items: [
      page('moving', 'trigger.dev'),
      page('coming-from/bullmq', 'BullMQ'),
      page('coming-from/graphile-worker', 'graphile-worker'),
      page('coming-from/inngest', 'Inngest'),
      page('coming-from/temporal', 'Temporal'),
    ],
  },
  {
    text: 'Tasks',
    items: [
      page('tasks', 'Writing tasks'),
      page('triggering', 'Triggering runs'),
      page('idempotency', 'Idempotency'),
      page('retries', 'Retries and errors'),
      page('steps', 'Steps'),
      page('waits', 'Waits'),
      page('schedules', 'Schedules'),
      page('events', 'Events and notifications'),
      page('webhooks', 'Webhooks'),
      page('sessions', 'Sessions'),
      page('realtime', 'Live updates and streams'),
      page('transactions', 'Triggering in your transaction'),
      page('machines', 'Machines'),
      page('testing', 'Testing tasks'),
      page('agents', 'AI agents'),
    ],
  },
  {
    text: 'Concurrency and limits',
    items: [
      page('concurrency', 'Concurrency and queues'),
      page('rate-limits', 'Rate limits'),
      page('fairness', 'Priority and fairness'),
      page('singleton', 'Singletons'),
      page('batching', 'Batching triggers'),
      page('state-machine', 'Run states'),
      page('limits', 'Limits'),
    ],
  },
  {
    text: 'Observe',
    items: [
      page('dashboard', 'Dashboard'),
      page('timeline', 'Run timelines'),
      page('finding-runs', 'Finding runs'),
      page('errors', 'Error groups'),
      page('error-grouping', 'How errors are grouped'),
      page('tracing', 'Spans and logs'),
      page('metrics', 'Metrics'),
      page('alerts', 'Alerts'),
    ],
  },
  {
    text: 'Deploy and operate',
    items: [
      page('self-hosting', 'Self-hosting'),
      page('deploy', 'Compose, Helm, systemd'),
      page('deployments', 'Deploying tasks'),
      page('packages', 'npm packages'),
      page('operations', 'Operations'),
      page('backup', 'Backup and restore'),
      page('export', 'Export and import'),
      page('upgrading', 'Upgrading'),
      page('postgresql', 'PostgreSQL and failover'),
      page('poolers', 'Connection poolers'),
      page('faults', 'The fault suite'),
      page('overload', 'Overload'),
      page('doctor', 'millrace doctor'),
      page('troubleshooting', 'Troubleshooting'),
      page('platforms', 'Platforms'),
      page('stability', 'Stability'),
    ],
  },
  {
    text: 'Security',
    items: [
      page('access', 'Access control'),
      page('login', 'Login with an identity provider'),
      page('audit', 'Audit log'),
      page('encryption', 'Encryption'),
    ],
  },
  {
    text: 'Reference',
    items: [
      page('cli', 'CLI reference'),
      page('config', 'millrace.config.ts'),
      page('environment-variables', 'Environment variables'),
      page('error-codes', 'Error codes'),
    ],
  },
  {
    text: 'HTTP API',
    collapsed: true,
    items: tags.map(({ slug, tag }) => ({ text: tag, link: `/docs/reference/${slug}` })),
  },
  {
    text: 'Internals',
    collapsed: true,
    items: [
      page('architecture', 'Architecture'),
      page('database', 'Database'),
      page('claims', 'How a claim works'),
      page('benchmarks', 'Benchmarks'),
      page('decisions/0001-postgresql-only', 'Decisions'),
      { text: 'Contributing', link: '/CONTRIBUTING' },
      { text: 'Security', link: '/SECURITY' },
    ],
  },
];
