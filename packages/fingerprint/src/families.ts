const network =
  /\b(?:connect|read|write|getaddrinfo|query\w{0,20}) E[A-Z_]{2,15}\b|^(?:socket hang up|fetch failed|Connection terminated(?: unexpectedly)?|other side closed|terminated|Client network socket disconnected.*|Headers Timeout Error|Body Timeout Error|Connect Timeout Error.*)$/;
const aborted =
  /^(?:This operation was aborted|The operation was aborted(?: due to timeout)?\.?|The user aborted a request\.?|Request aborted|canceled|Request was aborted\.?)$/;
const statement =
  /^(?:duplicate key value violates|null value in column|(?:new row|insert or update|update or delete) .{0,200} violates|(?:relation|column|function|type|schema|database|role|table|index|sequence|view|constraint|operator) .{0,200}(?:does not exist|already exists)|invalid input (?:syntax|value) for|value <value> is out of range|value too long for type|syntax error at or near|permission denied for|Duplicate entry|Table '|Unknown column|E11000|Data too long for column|Incorrect .{0,40} value|Out of range value for column|Column '|Field '|Cannot (?:add|delete) or update a (?:child|parent) row|SQLITE_CONSTRAINT|(?:UNIQUE|NOT NULL|FOREIGN KEY|CHECK) constraint failed|no such (?:table|column))/;

const command = /^(?:Command (?:failed|timed out|was killed)|spawn(?:Sync)? \S{1,200} E[A-Z]{2,15})/;

/**
 * Errors of a socket, a server or another process. Their class depends on the versions of Node and of the library, so the family replaces
 * it.
 */
export function familyOf(type: string, message: string): string | undefined {
  if (network.test(message)) return 'network';
  if (aborted.test(message)) return 'aborted';
  // A PostgreSQL response, which the driver names `error`. Only some versions include the caller's stack.
  if (type === 'error' || type === 'DatabaseError' || statement.test(message)) return 'statement';
  if (command.test(message)) return 'command';
  return undefined;
}

/**
 * Commands, and statements rejected by a database with the name of a column or a constraint. The message and the task are sufficient, and
 * only some driver versions have functions of the app on the stack.
 */
export function hasNoOrigin(family: string | undefined, message: string): boolean {
  return family === 'command' || (family === 'statement' && /'|<text>/.test(message));
}
