import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeProblem, type Problem, ProjectError } from '@millrace/diagnostics';
import { describeCopy, type Finding, problemOf, readPublished, usesOf } from '@millrace/compat';
import { localFiles } from '../../bundle/local-files.ts';
import { deploymentRefusals } from '../../deploy/refusals.ts';
import { evaluateConfig } from '../../project/evaluate-config.ts';
import { loadProject } from '../../project/load.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { type Paint, printJson, screenOn } from '../screen.ts';
import { projectVariables } from './dotenv.ts';

export interface FromTriggerOptions {
  readonly dir: string;
  readonly json?: boolean;
}

/** Prints which parts of a project for the published SDK work here, which differ and which do not work. Runs none of its tasks. */
export async function examineProject(options: FromTriggerOptions): Promise<void> {
  const problems: Problem[] = [];
  const published = await orProblem(readPublished(resolve(options.dir), evaluateConfig), problems);
  if (!published && problems.length === 0) {
    const sentence =
      'This project has no trigger.config.ts and does not depend on @trigger.dev/sdk: nothing to migrate.';
    throw new CommandFailed(exitCodes.failed, sentence);
  }
  const project = published && (await orProblem(loadProject(options.dir), problems));
  const findings: Finding[] = [];
  const working = new Set<string>();
  if (project) {
    for (const file of (await orProblem(localFiles(project), [])) ?? []) {
      const uses = usesOf(file, await readFile(join(project.dir, file), 'utf8'), published.version);
      findings.push(...uses.findings);
      for (const name of uses.working) working.add(name);
    }
    const { env } = await projectVariables(project.dir);
    const refusals = await deploymentRefusals(project, { inherited: env, added: {} });
    // Listed with the other uses.
    const listed = new Set(findings.map((finding) => describeProblem(problemOf(finding))));
    problems.push(...refusals.filter((refusal) => !listed.has(describeProblem(refusal))));
  }
  const notes = (published?.config.notes ?? []).map((note) => ({ file: published?.file ?? null, note }));
  if (options.json)
    printJson({
      version: published?.version ?? null,
      files: project?.taskFiles.length ?? 0,
      works: [...working].toSorted(),
      findings,
      config: notes,
      problems,
    });
  else {
    const { line, text, paint } = screenOn(process.stdout);
    if (published) line(describeCopy(published.version, published.file));
    if (project)
      line(`${paint.green('works')}    ${[...working].toSorted().join(', ') || 'no features in use'}`);
    for (const { file, note } of notes) text(`${paint.yellow('differs')}  ${file}: ${note}`);
    for (const { file, line: at, column, name, state, note } of findings)
      text(`${words[state](paint)}  ${file}:${at}:${column}: ${name}: ${note}`);
    for (const problem of problems) text(`${paint.red('problem')}  ${describeProblem(problem)}`);
  }
  if (problems.length > 0 || findings.some(({ state }) => state === 'not'))
    process.exitCode = exitCodes.failed;
}

const words = {
  not: (paint: Paint) => paint.red('not    '),
  differs: (paint: Paint) => paint.yellow('differs'),
  none: (paint: Paint) => paint.yellow('ignored'),
} satisfies Record<Finding['state'], unknown>;

/** Adds the problem if a project cannot be read. */
async function orProblem<T>(reading: Promise<T>, problems: Problem[]): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error;
    problems.push(error.problem);
    return undefined;
  }
}
