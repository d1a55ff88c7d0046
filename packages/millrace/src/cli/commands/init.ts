import { Command } from 'commander';
import { writeProject } from '../../init/write-project.ts';
import { version } from '../../version.ts';
import { printJson, screenOn } from '../screen.ts';

export const initCommand = (): Command =>
  new Command('init')
    .description('write a first project; what exists stays, and package.json gets what it lacks')
    .argument('[dir]', 'the folder, made when missing', '.')
    .option('--json', 'one line of JSON: folder, written, kept, added')
    .action(async (dir: string, options: { json?: boolean }) => {
      const project = await writeProject(dir, version);
      if (options.json) return printJson(project);
      const { line, paint } = screenOn(process.stdout);
      for (const file of project.written) line(`${paint.green('wrote')} ${file}`);
      for (const file of project.kept) line(`${paint.dim('kept')}  ${file}`);
      const { added } = project;
      const parts = Object.entries(added).map(([section, names]) =>
        section === 'allowScripts' ? section : `${section} ${names.join(', ')}`,
      );
      if (parts.length > 0) line(`${paint.green('added')} to package.json: ${parts.join('; ')}`);
      line();
      line('Next:');
      if (dir !== '.') line(`  cd ${dir}`);
      const toInstall =
        project.written.includes('package.json') || added.dependencies || added.devDependencies;
      if (toInstall) line('  npm install');
      line('  npx millrace dev');
      if (project.written.length > 0 || project.kept.length > 0)
        line(`Then, in a second terminal: npx millrace trigger hello --payload '{"name":"Ada"}' --wait`);
      else
        line('`npx millrace doctor --from-trigger` says what of the project works here, and what differs.');
    });
