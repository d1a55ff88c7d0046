import { bounds } from './bounds.ts';
import { comparable, normaliseMessage } from './message/message.ts';
import { typeOf } from './type.ts';

/** A cause as shown in the text of the stack. */
interface Written {
  name: string;
  message: string;
  code: string;
}

const opening = /^ {0,16}(?:\[?cause\]?: |\[errors\]: |Caused by: |(?:\[errors\]: )?\[$)/;
const header = /^ {0,16}\[?([A-Z_$][\w$.]{0,80}|error)(?: \[([\w.-]{1,60})\])?(?:: ?([^\n]{0,600}))?$/;

/** Causes written into the text of a stack: `[cause]:` and `[errors]:` of util.inspect, and `Caused by:`. */
export function writtenCauses(stack: string): Written[] {
  if (
    !stack.includes('cause]: ') &&
    !stack.includes('\n  cause: ') &&
    !stack.includes('[errors]:') &&
    !stack.includes('Caused by:')
  )
    return [];
  const found: Written[] = [];
  let listed = false;
  let previousEnded = false;
  const lines = stack.split('\n', 400);
  for (const [at, line] of lines.entries()) {
    const short = line.slice(0, bounds.line);
    const list = /^ {0,16}\[errors\]: \[$/.test(short);
    if (list) {
      listed = true;
      previousEnded = true;
      continue;
    }
    let rest = '';
    const opens = opening.test(short);
    if (opens) rest = short.replace(opening, '');
    else if (listed && previousEnded) rest = short.trim();
    previousEnded = /(?:,|\},?|\])$/.test(short);
    if (rest === '') continue;
    const match = header.exec(rest.replace(/(?: \{|\] \{|\],?)$/, ''));
    if (match)
      found.push({
        name: match[1] ?? '',
        message: `${match[3] ?? ''}${/(?: \{|\] \{|\],?)$/.test(rest) ? '' : restOfMessage(lines, at)}`,
        code: match[2] ?? '',
      });
    else if (opens) {
      const message = thrownValue(rest, lines.slice(at + 1, at + 16));
      if (message !== '') found.push({ name: '', message, code: '' });
    }
    if (found.length === bounds.causes) break;
  }
  return found;
}

const propertyPattern =
  /["']?\b(code|status|statusCode|type|name|message|reason|kind|error)["']?: ?('[^'\n]{0,200}'|"[^"\n]{0,200}"|-?\d{1,6}\b)/g;

/**
 * The key of a cause that is not an error: the text of a string, or the codes and messages of an object printed by `util.inspect` or as
 * JSON.
 */
function thrownValue(rest: string, following: string[]): string {
  if (!rest.startsWith('{'))
    return /^(?:\[|undefined$|null$)/.test(rest) ? '' : rest.replace(/^['"`]|['"`]$/g, '');
  const lines = [rest];
  if (!/\}[,\]]?$/.test(rest))
    for (const line of following) {
      if (/^ {0,24}\}/.test(line)) break;
      lines.push(line.slice(0, bounds.line));
    }
  const fields = new Map<string, string>();
  for (const [, name = '', value = ''] of lines.join('\n').matchAll(propertyPattern))
    fields.set(name, fields.get(name) ?? value.replace(/^['"]|['"]$/g, ''));
  const message = fields.get('message');
  if (message === undefined)
    return [...fields.keys()]
      .toSorted()
      .map((name) => `${name} ${fields.get(name)}`)
      .join(', ');
  // If there is a message, a name adds nothing, and only some versions of a library have one.
  const status = [fields.get('status'), fields.get('statusCode'), fields.get('code')].find((value) =>
    /^\d{1,6}$/.test(value ?? ''),
  );
  return status === undefined ? message : `${message}, code ${status}`;
}

/**
 * The remaining lines of a message, up to its frames; a long message is truncated. Without frames, only lines inside an open bracket belong
 * to the message, up to the line that is less indented than the first.
 */
function restOfMessage(lines: string[], at: number): string {
  const opened = /[[{]$/.test(lines[at]?.slice(0, bounds.line) ?? '');
  const indent = /^ {0,24}/.exec(lines[at + 1] ?? '')?.[0] ?? '';
  const further: string[] = [];
  for (const line of lines.slice(at + 1, at + 40)) {
    if (/^ {2,24}at /.test(line)) return further.length === 0 ? '' : `\n${further.join('\n')}`;
    if (/^ {0,20}\}|\[cause\]:|\[errors\]:/.test(line) && further.length === 0) return '';
    further.push(line.slice(0, 200).replace(/^ {2,4}/, ''));
    if (opened && !line.startsWith(indent)) return `\n${further.join('\n')}`;
  }
  return '';
}

const systemCode =
  /^(?:\w{2,20} )?(E[A-Z_]{3,15}|UND_ERR_\w{2,30})$|\b(E(?:CONN[A-Z]{5,8}|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|ADDRINUSE|ADDRNOTAVAIL))\b/;
const errorName = /(?:Error|Exception|Failure|Rejection|Fault)\d?$|^error$/;

/** Type and message of each cause, without causes that repeat the error itself. */
export function causeKeys(
  causes: { name: unknown; message: string; stack?: string; code: string }[],
  type: string,
  message: string,
): string[] {
  const keys: string[] = [];
  for (const cause of causes) {
    const causeMessage = normaliseMessage(cause.message) || cause.code;
    const causeType = typeOf(cause.name, cause.stack ?? '');
    if (causeMessage === '' && !errorName.test(causeType)) continue;
    if (causeMessage === '' ? causeType === type : message.includes(causeMessage)) continue;
    // Several refused addresses make an AggregateError, a single one an Error. They share the code.
    const system = systemCode.exec(causeMessage);
    // The innermost failure is enough, because the layers above it depend on the version of a library.
    if (system) {
      const code = system[1] ?? system[2] ?? '';
      const service = /^\w{2,20} E[A-Z_]{2,15} ([a-z.]{2,60})$/.exec(causeMessage)?.[1];
      return message.includes(code) ? [] : [service === undefined ? code : `${code} ${service}`];
    }
    const key = `${causeType}: ${comparable(causeMessage)}`;
    if (!keys.includes(key)) keys.push(key);
    if (keys.length === bounds.causes) break;
  }
  return keys;
}
