import parse from 'spdx-expression-parse';

/** The license field of a package is missing or invalid. */
export class LicenseProblem extends Error {
  override name = 'LicenseProblem';
}

/** The licenses that a package.json names, each once. Old forms (`licenses`, an object or a list) are not guessed at. */
export function declaredLicenses(manifest: Readonly<Record<string, unknown>>): string[] {
  const { license } = manifest;
  if (license === undefined || license === null || license === '') {
    throw new LicenseProblem('The package names no license');
  }
  if (typeof license !== 'string') {
    throw new LicenseProblem('The license is not an SPDX expression but an object or a list');
  }
  try {
    return [...new Set(identifiers(parse(license)))];
  } catch {
    throw new LicenseProblem(`The license is not an SPDX expression: ${license.slice(0, 100)}`);
  }
}

function identifiers(expression: parse.Info): string[] {
  if ('conjunction' in expression) return [...identifiers(expression.left), ...identifiers(expression.right)];
  return [expression.license];
}

/** How many packages name each license, the most frequent one first. */
export function countLicenses(
  packages: readonly { readonly licenses: readonly string[] }[],
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const license of packages.flatMap(({ licenses }) => licenses)) {
    counts.set(license, (counts.get(license) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].toSorted((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])));
}
