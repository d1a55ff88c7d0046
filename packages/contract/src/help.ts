/**
 * How a message names the section of docs/troubleshooting.md that explains it. `troubleshooting/` says which section that is; this is
 * apart from it, because programs that call the API carry this and not the list of messages.
 */
import { anchorOfStatus } from './troubleshooting/status.ts';

/**
 * The header of a failed reply with the address of the section that explains it: `docs/troubleshooting.md#not-found`. It is no `Link` with
 * `rel="help"` (RFC 8288): that would be resolved against the address of the request, and the server does not serve the documentation.
 */
export const helpHeader = 'x-millrace-help';

/**
 * The address of a section: a path, which is the same in the repository, in the package `millrace`, on the site of the documentation and in
 * copies of them. Messages name the command that prints it instead: see `helpCommand`.
 */
export const helpAt = (anchor: string): string => `docs/troubleshooting.md#${anchor}`;

/** What a header may say. It is shown to people, and another server than Millrace may have sent it. */
const address = /^docs\/[\w./-]{1,100}#[\w-]{1,100}$/;

/** The address that a reply's header gives; undefined if it is none. */
export const helpIn = (header: string | null | undefined): string | undefined =>
  header && address.test(header) ? header : undefined;

/** The command that prints what an address names: the sections and pages are in the package `millrace`. */
export const helpCommand = (help: string): string => {
  const [, anchor] = section.exec(help) ?? [];
  return anchor === undefined ? help : `millrace help ${anchor}`;
};
const section = /^docs\/troubleshooting\.md#([\w-]+)$/;

/** A message of one line, and the command that prints more. A message that names a page already stays as it is. */
export const withHelp = (message: string, help: string | undefined): string =>
  help === undefined || /\n|docs\/|millrace help /.test(message)
    ? message
    : `${message}${/[.!?]$/.test(message) ? ' See:' : '; see:'} ${helpCommand(help)}`;

const ending = /(?: See|; see): millrace help ([\w-]+)$/;

/** The message as it was before `withHelp`. */
export const withoutHelp = (message: string): string => message.replace(ending, '');

/** The address of the section that the end of a message names; undefined without one. */
export const helpOf = (message: string): string | undefined => {
  const [, anchor] = ending.exec(message) ?? [];
  return anchor === undefined ? undefined : helpAt(anchor);
};

/** Where a failure is explained of which only the status is known. */
export const helpOfStatus = (status: number): string => helpAt(anchorOfStatus(status));
