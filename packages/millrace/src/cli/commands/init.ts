import { version } from '@millrace/platform';
import { changeFolder, firstTrigger } from '@millrace/template';
import { Command } from 'commander';
import { writeProject, type WrittenProject } from '../../init/write-project.ts';
import { port } from '../options.ts';
import { printJson, screenOn } from '../screen.ts';

interface InitOptions {
  readonly dev?: boolean;
  readonly port: number;
  readonly json?: boolean;
}

export const initCommand = (): Command =>
  new Command('init')
    .description('set up a project in a new or existing folder')
    .argument('[dir]', 'project folder, created if missing; existing files are kept', '.')
    .option('--dev', 'then start `millrace dev` and run the first task once')
    .option('--port <port>', 'with --dev: port to listen on, 0 for any free port', port, 4400)
    .option('--json', 'print JSON; with --dev, followed by the JSON of `dev` and of the run')
    .action(async (dir: string, options: InitOptions) => {
      const project = await writeProject(dir, version);
      if (options.json) printJson(project);
      else printProject(project);
      if (options.dev) return serve(dir, project, options);
      if (!options.json) printNext(dir, project);
    });

const trigger = firstTrigger('npx');
const isNew = (path: string, { written }: WrittenProject): boolean => written.includes(path);

/** Serves the project until stopped. Runs the task once if it was just created. */
async function serve(
  dir: string,
  project: WrittenProject,
  { port: listenAt, json = false }: InitOptions,
): Promise<void> {
  const { dev } = await import('../compose/dev.ts');
  await dev({ dir: project.folder, port: listenAt, env: 'dev', json }, async (connection) => {
    if (!isNew('tasks/hello.ts', project)) return;
    const { firstRun } = await import('../compose/first-run.ts');
    await firstRun(connection, json);
    if (json) return;
    const { line } = screenOn(process.stdout);
    line(`Change ${dir === '.' ? '' : `${dir}/`}tasks/hello.ts, and run it again in a second terminal:`);
    for (const command of [...changeFolder(dir), trigger]) line(`  ${command}`);
  });
}

function printProject({ written, unchanged, added }: WrittenProject): void {
  const { line, paint } = screenOn(process.stdout);
  for (const file of written) line(`${paint.green('wrote')} ${file}`);
  for (const file of unchanged) line(`${paint.dim('kept')}  ${file}`);
  const parts = Object.entries(added).map(([section, names]) =>
    section === 'allowScripts' ? section : `${section} ${names.join(', ')}`,
  );
  if (parts.length > 0) line(`${paint.green('added')} to package.json: ${parts.join('; ')}`);
  line();
}

function printNext(dir: string, project: WrittenProject): void {
  const { line } = screenOn(process.stdout);
  const { added, written, unchanged } = project;
  line('Next:');
  for (const command of changeFolder(dir)) line(`  ${command}`);
  if (added.dependencies || added.devDependencies) line('  npm install');
  line('  npx millrace dev');
  if (written.length === 0 && unchanged.length === 0)
    return line(
      '`npx millrace doctor --from-trigger` reports which features of the project work with Millrace and which differ.',
    );
  line(`Then, in a second terminal: ${trigger}`);
  if (isNew('package.json', project))
    line('`npm install` installs the types for your editor. Run it before `millrace deploy`.');
}
