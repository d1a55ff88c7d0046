import { codecEndpoint, isSealed, openSealed } from '../../../api/sealed.ts';
import type { Line } from './log-lines.ts';

type Openable = Pick<Line, 'message' | 'properties'>;

/** Decrypted lines, as far as the endpoint opens them. Other lines stay unchanged. Never rejects. */
export async function openLines<L extends Openable>(lines: readonly L[]): Promise<readonly L[]> {
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

function withOpened<L extends Openable>(line: L, opened: unknown): L {
  const { message, properties } = Object(opened) as { message?: unknown; properties?: unknown };
  if (typeof message !== 'string') return line;
  const { properties: _, ...rest } = line;
  if (typeof properties !== 'string') return { ...rest, message } as L;
  return { ...rest, message, properties: JSON.parse(properties) as NonNullable<Line['properties']> } as L;
}
