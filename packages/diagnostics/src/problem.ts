/** A problem in a project. The rest of the project may still be served. */
export interface Problem {
  /** Relative to the project, with forward slashes. */
  readonly file: string;
  /** Starts at 1; null if unknown. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export const describeProblem = ({ file, line, column, message }: Problem): string =>
  `${file}${line === null ? '' : `:${line}${column === null ? '' : `:${column}`}`}: ${message}`;

/** The project has problems, and none of it was registered, started or uploaded. */
export class ProjectRefused extends Error {
  override readonly name = 'ProjectRefused';
  readonly problems: readonly Problem[];

  /** `done`: the action that was not performed. */
  constructor(problems: readonly Problem[], done: 'registered' | 'uploaded' = 'registered') {
    const lines = problems.map((problem) => `\n  ${describeProblem(problem)}`).join('');
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`The project has ${count}, so nothing was ${done}:${lines}`);
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
