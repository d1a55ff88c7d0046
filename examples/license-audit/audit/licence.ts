import parse from 'spdx-expression-parse';

/** The license field of a package is missing or invalid. */
export class LicenceProblem extends Error {
  override name = 'LicenceProblem';
}

/** The licenses that a package.json names, each once. Old forms (`licenses`, an object or a list) are not guessed at. */
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

/** How many packages name each licence, the most frequent one first. */
export function countLicences(
  packages: readonly { readonly licences: readonly string[] }[],
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const licence of packages.flatMap(({ licences }) => licences)) {
    counts.set(licence, (counts.get(licence) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].toSorted((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])));
}
