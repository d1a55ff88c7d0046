/** Command lines that the help of a command and docs/cli.md show, by command. */
export const examples: Readonly<Record<string, readonly string[]>> = {
  init: ['millrace init hello --dev'],
  deploy: ['millrace deploy --env prod', 'millrace deploy --branch feat/login'],
  'versions compare': ['millrace versions compare', 'millrace versions compare 20261121.3 20261120.1'],
  'versions promote': [
    'millrace versions promote 20261121.3',
    'millrace versions promote 20261121.3 --percent 10',
  ],
  work: ['millrace work --env prod', 'millrace work --env prod --label ffmpeg --concurrency 20'],
  trigger: [
    `millrace trigger hello --payload '{"name":"Ada"}' --wait`,
    'millrace trigger hello --delay 10m --tag welcome',
  ],
  'runs list': [
    'millrace runs list --status FAILED --period 24h',
    `millrace runs list 'status:failed task:mail since:2h'`,
  ],
  'runs cancel': ['millrace runs cancel run_…', 'millrace runs cancel --task mail --status QUEUED'],
  'runs replay': ['millrace runs replay run_…', 'millrace runs replay --error error_…'],
  'queues limit': ['millrace queues limit task/mail --to 5', 'millrace queues limit task/mail --to none'],
  'queues rate': ['millrace queues rate task/mail --to 100/1m'],
  'schedules create': [
    `millrace schedules create report '0 9 * * mon-fri' --tz Europe/Paris --deduplication-key report`,
  ],
  'schedules preview': [`millrace schedules preview '0 9 * * mon-fri' --tz Europe/Paris -n 3`],
  'events send': [`millrace events send order.paid --payload '{"order":"o-1"}'`],
  logs: ['millrace logs run_… --follow', 'millrace logs --task mail --level error --since 1h'],
  'errors resolve': ['millrace errors resolve error_… --in-version 20261121.3'],
  'errors ignore': ['millrace errors ignore error_… --for 7d'],
  stats: ['millrace stats --by task --period 7d'],
  'models usage': ['millrace models usage --by task --period 7d'],
  'models prices set': ["millrace models prices set 'gpt-5*' --input 1.25 --cached-input 0.125 --output 10"],
  'alerts add': ['millrace alerts add task.failureRate --task mail --threshold 10'],
  'env set': [
    'millrace env set LOG_LEVEL=debug',
    'echo "$STRIPE_KEY" | millrace env set STRIPE_KEY --secret',
  ],
  'keys create': ['millrace keys create ci --env prod --preset deploy-only'],
  start: [
    'DATABASE_URL=postgresql://user:password@host:5432/millrace millrace start --host 0.0.0.0',
    'millrace start --data /var/lib/millrace',
  ],
  'backup create': ['millrace backup create --data /var/lib/millrace --to /var/backups/millrace --keep 7'],
  restore: ['millrace restore --from /var/backups/millrace --to /var/lib/millrace'],
  'members invite': ['millrace members invite ada@example.com --role admin'],
  'sql-views grant': ['millrace sql-views grant analyst --environment env_…'],
};
