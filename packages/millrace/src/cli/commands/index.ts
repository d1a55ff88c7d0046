import type { Command } from 'commander';

type Load = () => Promise<Command>;

/**
 * All commands by area, in the order of `--help`. Each is loaded when it is used, because loading all of them takes longer than most of
 * them run.
 */
const areas: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  Develop: {
    init: async () => (await import('./init.ts')).initCommand(),
    dev: async () => (await import('./dev.ts')).devCommand(),
    demo: async () => (await import('./demo.ts')).demoCommand(),
    doctor: async () => (await import('./doctor.ts')).doctorCommand(),
    mcp: async () => (await import('./mcp.ts')).mcpCommand(),
    help: async () => (await import('./help.ts')).helpCommand(),
    completion: async () => (await import('./completion.ts')).completionCommand(),
  },
  Deploy: {
    deploy: async () => (await import('./deploy.ts')).deployCommand(),
    versions: async () => (await import('./versions.ts')).versionsCommand(),
    branches: async () => (await import('./branches.ts')).branchesCommand(),
    work: async () => (await import('./work.ts')).workCommand(),
    runners: async () => (await import('./runners.ts')).runnersCommand(),
  },
  Runs: {
    trigger: async () => (await import('./trigger.ts')).triggerCommand(),
    tasks: async () => (await import('./tasks.ts')).tasksCommand(),
    runs: async () => (await import('./runs.ts')).runsCommand(),
    why: async () => (await import('./why.ts')).whyCommand(),
    batches: async () => (await import('./batches.ts')).batchesCommand(),
    queues: async () => (await import('./queues.ts')).queuesCommand(),
    schedules: async () => (await import('./schedules.ts')).schedulesCommand(),
    events: async () => (await import('./events.ts')).eventsCommand(),
    webhooks: async () => (await import('./webhooks.ts')).webhooksCommand(),
    outbox: async () => (await import('./outbox.ts')).outboxCommand(),
  },
  Observe: {
    open: async () => (await import('./open.ts')).openCommand(),
    logs: async () => (await import('./logs.ts')).logsCommand(),
    errors: async () => (await import('./errors.ts')).errorsCommand(),
    stats: async () => (await import('./stats.ts')).statsCommand(),
    models: async () => (await import('./models.ts')).modelsCommand(),
    alerts: async () => (await import('./alerts.ts')).alertsCommand(),
    notifications: async () => (await import('./notifications.ts')).notificationsCommand(),
  },
  Configure: {
    login: async () => (await import('./login.ts')).loginCommand(),
    logout: async () => (await import('./logout.ts')).logoutCommand(),
    whoami: async () => (await import('./whoami.ts')).whoamiCommand(),
    projects: async () => (await import('./projects.ts')).projectsCommand(),
    env: async () => (await import('./env.ts')).envCommand(),
    keys: async () => (await import('./keys.ts')).keysCommand(),
    tokens: async () => (await import('./tokens.ts')).tokensCommand(),
    export: async () => (await import('./export.ts')).exportCommand(),
    import: async () => (await import('./import.ts')).importCommand(),
  },
  Administer: {
    start: async () => (await import('./start.ts')).startCommand(),
    resume: async () => (await import('./resume.ts')).resumeInstallationCommand(),
    backup: async () => (await import('./backup.ts')).backupCommand(),
    restore: async () => (await import('./restore.ts')).restoreCommand(),
    'upgrade-data': async () => (await import('./upgrade-data.ts')).upgradeDataCommand(),
    storage: async () => (await import('./storage.ts')).storageCommand(),
    'sql-views': async () => (await import('./sql-views.ts')).sqlViewsCommand(),
    orgs: async () => (await import('./orgs.ts')).orgsCommand(),
    members: async () => (await import('./members.ts')).membersCommand(),
    browsers: async () => (await import('./browsers.ts')).browsersCommand(),
    audit: async () => (await import('./audit.ts')).auditCommand(),
  },
};

/** All commands by name. Each has its area as its heading in `--help`. */
export const commands: ReadonlyMap<string, Load> = new Map(
  Object.entries(areas).flatMap(([area, loads]) =>
    Object.entries(loads).map(([name, load]) => [name, async () => (await load()).helpGroup(`${area}:`)]),
  ),
);
