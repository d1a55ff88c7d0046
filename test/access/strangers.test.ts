import { operations, type OperationDeclaration } from '@millrace/contract';
import { describe, expect, test } from 'vitest';
import { installation } from './installation.ts';

describe('a foreign object', () => {
  test('has the reply of a missing one, on every route that leads to a project or an organization, in as much time', async () => {
    const { ask, projectRef, organization } = await installation();
    const other = (await ask('POST /api/v1/orgs', { body: { name: 'Elsewhere' } })).body.id as string;
    const invited = await ask(`POST /api/v1/orgs/${other}/invites`, {
      body: { email: 's@example.com', role: 'admin' },
    });
    const joined = await ask('POST /api/v1/invites/join', {
      key: '',
      body: { token: invited.body.token, name: 'S' },
    });
    const key = joined.body.personalAccessToken as string;

    const places = [
      { projectRef, organization },
      {
        projectRef: projectRef.replace(/.{4}$/, 'zzzz'),
        organization: organization.replace(/.{4}$/, 'zzzz'),
      },
    ];
    const all: readonly OperationDeclaration[] = Object.values(operations);
    const reads = all.filter(
      ({ access, path, method }) =>
        access.role !== undefined && /:(projectRef|organization)/.test(path) && method === 'GET',
    );
    expect(reads.length).toBeGreaterThan(8);
    const addressed = (path: string, place: Record<string, string>) =>
      path.replace(/:(\w+)/g, (_, name: string) => place[name] ?? (name === 'env' ? 'dev' : 'x'));
    const least = [Infinity, Infinity];
    for (let round = 0; round < 5; round++) {
      for (const { path } of reads) {
        const query = path.endsWith('/diff') ? '?from=0' : '';
        const answers = [];
        for (const [at, place] of places.entries()) {
          const began = performance.now();
          const { status, body } = await ask(`GET ${addressed(path, place)}${query}`, { key });
          least[at] = Math.min(least[at] ?? Infinity, performance.now() - began);
          answers.push({ status, body });
        }
        expect(answers[0]).toEqual(answers[1]);
        expect(answers[0]?.status).toBe(404);
      }
    }
    // The quickest of many: both need the same single query of the database.
    const [yours = 0, none = 0] = least;
    expect(Math.max(yours, none) / Math.min(yours, none)).toBeLessThan(2);
  });
});
