import { environmentKind, parseInstant, type EnvironmentKind } from '@millrace/contract';
import { InvalidArgumentError } from 'commander';

export function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 65_535) {
    throw new InvalidArgumentError('A port is a number from 0 (any free one) to 65535.');
  }
  return value;
}

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number above 0.');
  return Number(text);
}

export function wholeNumber(text: string): number {
  return text === '0' ? 0 : positiveInteger(text);
}

export function environment(text: string): EnvironmentKind {
  const kind = environmentKind(text);
  if (kind === undefined) throw new InvalidArgumentError('Environments are dev, stg, prod and preview.');
  return kind;
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidArgumentError(
      `It is not JSON (${(error as Error).message}). Write for instance '{"name":"Ada"}'.`,
    );
  }
}

export function address(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('It is an http or https address, such as http://127.0.0.1:4400.');
}

export function instant(text: string): Date {
  const at = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:?\d\d))?$/.test(text) ? parseInstant(text) : undefined;
  if (at !== undefined) return at;
  throw new InvalidArgumentError(
    'It is a date that exists, or a time of one with Z or an offset, such as 2026-01-15T12:00:00Z.',
  );
}
