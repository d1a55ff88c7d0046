import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { metadataOf } from '../../build/metadata.ts';
import { publishedPackages } from '../../build/packages.ts';

const packages = fileURLToPath(new URL('../../packages/', import.meta.url));

const manifestOf = (folder: string): Readonly<Record<string, unknown>> =>
  JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8')) as Record<string, unknown>;

const published = publishedPackages.map(({ folder }) => folder);

describe.each(published)('the package.json of %s', (folder) => {
  test('has the metadata that npm shows, as `node build/metadata.ts` writes it', () => {
    expect(manifestOf(folder)).toMatchObject(metadataOf(folder));
  });

  test('describes the package, its license and its contents', () => {
    const { description, license, files, version } = manifestOf(folder);
    expect({ license, version }).toEqual({ license: 'Apache-2.0', version: manifestOf('sdk')['version'] });
    expect(description).toMatch(/^[A-Z].{20,}[^.]$/);
    expect(files).toContain('dist');
  });

  test('has different keywords, and some of its own', () => {
    const { keywords } = metadataOf(folder);
    expect(new Set(keywords).size).toBe(keywords.length);
    expect(keywords.length).toBeGreaterThan(4);
  });
});

test('every other package is private and is not set up for publishing', () => {
  const others = readdirSync(packages).filter((folder) => !published.includes(folder));
  expect(others.length).toBeGreaterThan(3);
  for (const folder of others) {
    const { private: isPrivate, publishConfig } = manifestOf(folder);
    expect({ folder, isPrivate, publishConfig }).toEqual({
      folder,
      isPrivate: true,
      publishConfig: undefined,
    });
  }
});
