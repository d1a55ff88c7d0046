type Stored = Readonly<Record<string, unknown>>;

/** Restores a stored error, with its cause and its errors. */
export function revivedError(stored: Stored): Error {
  const { message, name, stackTrace, code } = stored;
  const text = typeof message === 'string' ? message : 'It failed.';
  const causes = causesIn(stored);
  const members = causes.filter(({ isMember }) => isMember === true);
  // Only the first cause that is not a member of `errors` is the error's own cause. For published clients, the causes of that cause follow
  // it.
  const cause = causes.find(({ isMember }) => isMember !== true);
  const options = cause && { cause: revived(cause) };
  const error =
    members.length > 0 ? new AggregateError(members.map(revived), text, options) : new Error(text, options);
  error.name = typeof name === 'string' ? name : 'Error';
  if (typeof stackTrace === 'string' && stackTrace !== '') error.stack = stackTrace;
  else delete error.stack;
  if (typeof code === 'string') Object.assign(error, { code });
  return error;
}

const causesIn = ({ causes }: Stored): Stored[] =>
  Array.isArray(causes)
    ? causes.filter((cause): cause is Stored => typeof cause === 'object' && cause !== null)
    : [];

/** A thrown string becomes a string again if the value need not be an error. */
const revived = (stored: Stored): unknown =>
  stored['type'] === 'STRING_ERROR' ? stored['message'] : revivedError(stored);
