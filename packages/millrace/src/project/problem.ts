/** A problem in a project. The rest of the project may still be served. */
export interface Problem {
  /** Relative to the project, with forward slashes. */
  readonly file: string;
  /** From 1; null if unknown. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export const describeProblem = ({ file, line, column, message }: Problem): string =>
  `${file}${line === null ? '' : `:${line}${column === null ? '' : `:${column}`}`}: ${message}`;

/** The project has problems, and nothing of it was registered or started. */
export class ProjectRefused extends Error {
  override readonly name = 'ProjectRefused';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(
      problems.length === 1
        ? `The project has a problem, so nothing of it was registered:\n  ${problems.map(describeProblem).join('')}`
        : `The project has ${problems.length} problems, so nothing of it was registered:\n${problems
            .map((problem) => `  ${describeProblem(problem)}`)
            .join('\n')}`,
    );
    this.problems = problems;
  }
}

/** The project cannot be served at all. */
export class ProjectError extends Error {
  override readonly name = 'ProjectError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(describeProblem(problem));
    this.problem = problem;
  }
}
