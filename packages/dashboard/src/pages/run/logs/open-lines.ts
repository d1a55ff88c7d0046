import { codecEndpoint, isSealed, openSealed } from '../../../api/sealed.ts';
import type { Line } from './log-lines.ts';

/** Decrypted lines, as far as the endpoint opens them. Other lines stay unchanged. Never rejects. */
export async function openLines(lines: readonly Line[]): Promise<readonly Line[]> {
  if (codecEndpoint === undefined || !lines.some(({ properties }) => isSealed(properties))) return lines;
  try {
    const opened = await openSealed(
      codecEndpoint,
      lines.map(({ properties }) => (isSealed(properties) ? properties : null)),
    );
    return lines.map((line, index) => withOpened(line, opened[index]));
  } catch {
    return lines;
  }
}

function withOpened(line: Line, opened: unknown): Line {
  const { message, properties } = Object(opened) as { message?: unknown; properties?: unknown };
  if (typeof message !== 'string') return line;
  const { properties: _, ...rest } = line;
  if (typeof properties !== 'string') return { ...rest, message };
  return { ...rest, message, properties: JSON.parse(properties) as NonNullable<Line['properties']> };
}
