/** Which part of docs/troubleshooting.md explains a message. A test holds this list and the page together. */

/** A part of a message, by the anchor of its explanation. `…` stands for text without a line end. */
const parts: readonly (readonly [part: string, anchor: string])[] = [
  // Finding the server.
  ['No server is configured: ', 'no-server-is-configured'],
  ['Only half of the connection is set: ', 'no-server-is-configured'],
  ['There is no login: ', 'no-server-is-configured'],
  ['No server address: ', 'no-server-is-configured'],
  ['No secret key: ', 'no-server-is-configured'],
  ['Cannot reach ', 'the-server-cannot-be-reached'],
  ["with a body that is not this API's", 'another-server-answers'],
  // Starting.
  ['Port … is taken. ', 'the-port-is-taken'],
  ['The data folder … is in use by process ', 'the-data-folder-is-in-use'],
  ['`millrace dev` runs in … already: ', 'the-data-folder-is-in-use'],
  ['There is no PostgreSQL to start on ', 'there-is-no-postgresql-to-start'],
  ['PostgreSQL does not run as root', 'postgresql-does-not-run-as-root'],
  ['PostgreSQL runs as …, who may not enter ', 'postgresql-does-not-run-as-root'],
  ['was made by PostgreSQL ', 'the-data-was-made-by-another-postgresql'],
  ['disk … is full', 'the-disk-is-full'],
  ['Where is the data? ', 'where-is-the-data'],
  ['MILLRACE_MASTER_KEY is not set', 'the-master-key-is-not-set'],
  ['The master key is not the one ', 'the-master-key-is-another-one'],
  // PostgreSQL.
  ['The database at … cannot be used: ', 'the-database-cannot-be-used'],
  [' may not do what Millrace needs ', 'the-role-of-the-database-lacks-rights'],
  [' is read-only, as a standby is', 'the-database-is-read-only'],
  [' leads to a pooler ', 'the-database-is-behind-a-pooler'],
  [' is too old: Millrace needs ', 'postgresql-is-too-old'],
  ['This database was migrated by a newer Millrace ', 'the-database-is-newer'],
  [' could not get the locks for ', 'a-table-is-locked'],
  // The project.
  ['there is no folder … in …: create it', 'there-is-no-task-folder'],
  ['the task id … is declared ', 'a-task-id-is-declared-twice'],
  ['task files are compiled by ', 'esbuild-is-not-installed'],
  ['the project has no task: ', 'the-project-has-no-task'],
  // Requests.
  ['Invalid or Missing API key: ', 'the-key-is-missing'],
  ['Invalid Access Token: this operation takes ', 'the-operation-takes-another-credential'],
  ['Invalid API key: this operation ', 'the-operation-takes-another-credential'],
  ['Invalid API key', 'the-key-is-not-known'],
  ['Invalid Access Token', 'the-key-is-not-known'],
  ['Public Access Token is invalid', 'the-key-is-not-known'],
  ['holds a space or a character that no key has', 'the-key-is-not-known'],
  ['A personal access token is for many ', 'the-operation-takes-another-credential'],
  ['Unauthorized: this needs ', 'the-key-may-not-do-this'],
  ['403 Unauthorized', 'the-key-may-not-do-this'],
  ['Too many wrong credentials from this address', 'too-many-wrong-credentials'],
  ['Rate limit exceeded: ', 'too-many-requests'],
  ['Too many subscribers', 'too-many-subscribers'],
  ['Request body too large', 'the-body-is-too-large'],
  ['A payload or an output has at most ', 'the-body-is-too-large'],
  ['The database does not accept writes at the moment', 'the-database-does-not-accept-writes'],
  ['Internal Server Error', 'internal-server-error'],
  // Runs that wait.
  ['No version is current in this environment', 'no-version-has-the-task'],
  ['The current version … has no task ', 'no-version-has-the-task'],
  ['Version … has no task ', 'no-version-has-the-task'],
  ['No runner is connected that can execute ', 'no-runner-is-connected'],
  ['No connected runner ', 'no-runner-is-connected'],
  ['Millrace was started with --paused', 'something-is-paused'],
  ['The environment is paused', 'something-is-paused'],
  ['The queue … is paused', 'something-is-paused'],
  // Runs that fail.
  ['The process of the run ', 'the-process-of-the-run-ended'],
  ['Its runner was lost ', 'the-runner-was-lost'],
  ['took longer than its maxDuration ', 'the-attempt-took-too-long'],
  [' does not fit the schema of task ', 'the-payload-does-not-fit'],
  [' cannot be serialized', 'a-value-cannot-be-serialized'],
  ['There is no credential here: ', 'there-is-no-credential-in-a-task'],
  [' works only in the code of a task while it runs', 'outside-of-a-run'],
  [' does not work inside a step ', 'inside-of-a-step'],
];

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const patterns = parts.map(([part, anchor]): readonly [RegExp, string] => [
  new RegExp(part.split('…').map(escaped).join('.+')),
  anchor,
]);

export const anchors: readonly string[] = [...new Set(parts.map(([, anchor]) => anchor))];

/** The anchor of the explanation of a message, by its first line; undefined if there is none. */
export function anchorOf(message: string): string | undefined {
  const [line = ''] = message.split('\n', 1);
  return patterns.find(([pattern]) => pattern.test(line))?.[1];
}

/** Errors with which Millrace itself ends an attempt. */
const ownErrors = new Set([
  'ConfigurationError',
  'MaxDurationExceeded',
  'OutOfMemory',
  'PayloadValidationError',
  'ProcessExit',
  'ProcessKilled',
  'RunnerLost',
  'UnserializableError',
]);

/** The same for the error of a run. Other errors are of the code of the task, whose words may be the same by chance. */
export const anchorOfFailure = ({ name, message }: { name?: string; message: string }): string | undefined =>
  name !== undefined && ownErrors.has(name) ? anchorOf(message) : undefined;

/** Where that is: a path, which is the same in the repository, on the site of the documentation and in copies of both. */
export const pageOf = (anchor: string): string => `docs/troubleshooting.md#${anchor}`;

/** A message of one line, and where to read more. */
export function withExplanation(message: string): string {
  const anchor = anchorOf(message);
  return anchor === undefined || message.includes('\n') || message.includes('docs/')
    ? message
    : `${message}${/[.!?]$/.test(message) ? '' : '.'} See ${pageOf(anchor)}`;
}
