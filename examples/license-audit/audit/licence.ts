import parse from 'spdx-expression-parse';

/** What a package says of its licence cannot be used in an audit. */
export class LicenceProblem extends Error {
  override name = 'LicenceProblem';
}

/** The licences that a package.json names, each once. Old forms (`licenses`, an object or a list) are not guessed at. */
export function declaredLicences(manifest: Readonly<Record<string, unknown>>): string[] {
  const { license } = manifest;
  if (license === undefined || license === null || license === '') {
    throw new LicenceProblem('The package names no licence');
  }
  if (typeof license !== 'string') {
    throw new LicenceProblem('The licence is not an SPDX expression but an object or a list');
  }
  try {
    return [...new Set(identifiers(parse(license)))];
  } catch {
    throw new LicenceProblem(`The licence is not an SPDX expression: ${license.slice(0, 100)}`);
  }
}

function identifiers(expression: parse.Info): string[] {
  if ('conjunction' in expression) return [...identifiers(expression.left), ...identifiers(expression.right)];
  return [expression.license];
}
