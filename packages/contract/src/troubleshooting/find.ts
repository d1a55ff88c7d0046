import type { Part } from './part.ts';
import { replies } from './replies.ts';
import { ownErrors, runs } from './runs.ts';
import { starting } from './starting.ts';
import { anchorOfStatus } from './status.ts';

/** A section of docs/troubleshooting.md. */
export type Anchor = (typeof starting | typeof replies | typeof runs)[number][1];

/** The rest of a longer line is user input and is not searched. */
const maxLength = 500;

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const patternsOf = (parts: readonly Part[]) =>
  parts.map(([part, anchor]): readonly [RegExp, Anchor] => [
    new RegExp(part.split('…').map(escaped).join('.+')),
    anchor as Anchor,
  ]);

const ofReplies = patternsOf(replies);
const ofOthers = patternsOf([...starting, ...runs]);

/** All sections, each once. */
export const anchors: readonly Anchor[] = [
  ...new Set([...ofOthers, ...ofReplies].map(([, anchor]) => anchor)),
];

function findIn(patterns: typeof ofReplies, message: string): Anchor | undefined {
  const line = message.slice(0, maxLength).split('\n', 1)[0] ?? '';
  return patterns.find(([pattern]) => pattern.test(line))?.[1];
}

/** The section that explains an error response: by its message, otherwise by its status. */
export const anchorOfReply = (status: number, message: string): Anchor =>
  findIn(ofReplies, message) ?? anchorOfStatus(status);

/** The section that explains a message, by its first line; undefined if there is none. Responses are shown with their status as prefix. */
export function anchorOf(message: string): Anchor | undefined {
  const [, status, detail = ''] = /^([45]\d\d) (.*)/.exec(message) ?? [];
  return (
    findIn(ofOthers, message) ?? (status === undefined ? undefined : anchorOfReply(Number(status), detail))
  );
}

/** The same for the error of a run. Other errors come from the task's code, and their wording may match by chance. */
export const anchorOfFailure = ({ name, message }: { name?: string; message: string }): Anchor | undefined =>
  name !== undefined && ownErrors.has(name) ? anchorOf(message) : undefined;
