/** The pages by topic. A test asserts that every page of docs/ is here. */
import { tags } from './reference.ts';

const page = (name: string, text: string) => ({ text, link: `/docs/${name}` });

export const sidebar = [
  {
    text: 'Begin',
    items: [
      { text: 'Millrace', link: '/' },
      page('demo', 'The demo'),
      page('guarantees', 'Guarantees'),
      page('glossary', 'Glossary'),
      page('comparison', 'Comparison'),
    ],
  },
  {
    text: 'Coming from',
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
      page('triggering', 'Triggering'),
      page('retries', 'Retries'),
      page('steps', 'Steps'),
      page('waits', 'Waits'),
      page('schedules', 'Schedules'),
      page('events', 'Events and notifications'),
      page('sessions', 'Sessions'),
      page('realtime', 'Live updates and streams'),
      page('transactions', 'In your own transaction'),
      page('testing', 'Testing tasks'),
      page('frameworks', 'Web frameworks'),
      page('agents', 'Agents'),
    ],
  },
  {
    text: 'Who runs when',
    items: [
      page('batching', 'One run for many triggers'),
      page('fairness', 'Priority and fairness'),
      page('rate-limits', 'Rate limits'),
      page('singleton', 'One run at a time'),
      page('machines', 'Machines'),
      page('limits', 'All limits'),
      page('state-machine', 'Run states'),
    ],
  },
  {
    text: 'See what happens',
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
    text: 'Production',
    items: [
      page('production', 'From a laptop to production'),
      page('deploy', 'Deploy'),
      page('operations', 'Operations'),
      page('deployments', 'Deployments of code'),
      page('packages', 'Packages'),
      page('config', 'millrace.config.ts'),
      page('environment-variables', 'Environment variables'),
      page('encryption', 'Encryption'),
      page('backup', 'Backup and restore'),
      page('export', 'Export and import'),
      page('upgrading', 'Upgrading'),
      page('poolers', 'Connection poolers'),
      page('overload', 'Overload'),
      page('doctor', 'Doctor'),
      page('troubleshooting', 'Troubleshooting'),
      page('error-codes', 'Error codes'),
      page('login', 'Login with a provider'),
      page('access', 'Access'),
      page('audit', 'Audit log'),
      page('platforms', 'Platforms'),
      page('stability', 'Stability'),
    ],
  },
  {
    text: 'API',
    collapsed: true,
    items: tags.map(({ slug, tag }) => ({ text: tag, link: `/docs/reference/${slug}` })),
  },
  {
    text: 'Inside',
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
