import { Command } from 'commander';
import { writeProject } from '../../init/write-project.ts';
import { version } from '../version.ts';
import { printJson, screenOn } from '../screen.ts';

export const initCommand = (): Command =>
  new Command('init')
    .description('write a first project; a file that exists is never touched')
    .argument('[dir]', 'the folder, made when missing', '.')
    .option('--json', 'one line of JSON: folder, written, kept')
    .action(async (dir: string, options: { json?: boolean }) => {
      const project = await writeProject(dir, version);
      if (options.json) return printJson(project);
      const { line, paint } = screenOn(process.stdout);
      for (const file of project.written) line(`${paint.green('wrote')} ${file}`);
      for (const file of project.kept) line(`${paint.dim('kept')}  ${file}`);
      line();
      line('Next:');
      if (dir !== '.') line(`  cd ${dir}`);
      if (project.kept.includes('package.json')) {
        line('  npm install @millrace/sdk millrace');
      } else {
        line('  npm install');
      }
      line('  npx millrace dev');
      line(`Then, in a second terminal: npx millrace trigger hello --payload '{"name":"Ada"}' --wait`);
    });
