import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { localFiles } from '../../bundle/local-files.ts';
import { loadProject } from '../../project/load.ts';
import { readPublished } from '../../project/read-published.ts';
import { describeCopy } from '../../published/project/describe.ts';
import { usesOf, type Finding } from '../../published/project/imports.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';

export interface FromTriggerOptions {
  readonly dir: string;
  readonly json?: boolean;
}

/** Says what of a project that is written for the published SDK works here, what differs and what does not work. Runs none of its tasks. */
export async function examineProject(options: FromTriggerOptions): Promise<void> {
  const published = await readPublished(resolve(options.dir));
  if (!published) {
    const sentence =
      'This project has no trigger.config.ts and does not depend on @trigger.dev/sdk: there is nothing to move.';
    throw new CommandFailed(exitCodes.failed, sentence);
  }
  const project = await loadProject(options.dir);
  const findings: Finding[] = [];
  const working = new Set<string>();
  for (const file of await localFiles(project)) {
    const uses = usesOf(file, await readFile(join(project.dir, file), 'utf8'));
    findings.push(...uses.findings);
    for (const name of uses.working) working.add(name);
  }
  const notes = published.config.notes.map((note) => ({ file: published.file, note }));
  const { version } = published;
  const hasBlocking = findings.some(({ state }) => state === 'not');
  if (options.json)
    printJson({
      version,
      files: project.taskFiles.length,
      works: [...working].toSorted(),
      findings,
      config: notes,
    });
  else {
    const { line, text, paint } = screenOn(process.stdout);
    line(describeCopy(version, published.file));
    line(`${paint.green('works')}    ${[...working].toSorted().join(', ') || 'nothing of it is used'}`);
    for (const { file, note } of notes) text(`${paint.yellow('differs')}  ${file}: ${note}`);
    for (const { file, line: at, column, name, state, note } of findings)
      text(
        `${state === 'not' ? paint.red('not    ') : paint.yellow('differs')}  ${file}:${at}:${column}: ${name}: ${note}`,
      );
  }
  if (hasBlocking) process.exitCode = exitCodes.failed;
}
