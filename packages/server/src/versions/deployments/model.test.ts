import { expect, test } from 'vitest';
import { Problem } from '../../problem.ts';
import { openS3Store } from '../store/s3.ts';
import { bundleOf, sha256 } from './testing/bundle.ts';
import { testDeployments, type Created } from './testing/deployments.ts';
import { startS3Server } from './testing/s3-server.ts';

/** A seeded number generator, so that results are repeatable. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const seeds = process.env['MILLRACE_TEST_SEED']
  ? [Number(process.env['MILLRACE_TEST_SEED'])]
  : [1, 2, 3].map(() => Math.floor(Math.random() * 1_000_000));

test.each([...seeds.map((seed) => [seed, 'the database'] as const), [seeds[0]!, 'a store'] as const])(
  'any concurrent operations leave deployments consistent (seed %i, files in %s)',
  async (seed, where) => {
    const s3 = where === 'a store' ? await startS3Server() : undefined;
    const t = await testDeployments(s3 && (await openS3Store(s3.settings, () => {})));
    const env = t.environment.id;
    const bundles = Array.from({ length: 6 }, (_, n) =>
      bundleOf(
        { 'shared.js': 'shared', 'own.js': `own ${n % 4}`, 'n.js': String(n) },
        { level: n % 2 ? 1 : 9 },
      ),
    );
    const created: Created[] = [];
    const refused: string[] = [];
    const client = async (own: number): Promise<void> => {
      const pick = numbersFrom(seed + own * 7_919);
      for (let step = 0; step < 40; step++) {
        const bundle = bundles[pick(bundles.length)]!;
        const known = created[pick(created.length)];
        const act = async (): Promise<unknown> => {
          switch (pick(9)) {
            case 0:
            case 1:
            case 2:
              return t.deploy(bundle).then((deployment) => created.push(deployment));
            case 3:
              return t.create(bundle.body).then((deployment) => created.push(deployment));
            case 4:
              return known && t.finalize(known);
            case 5:
              return known && t.fail(known);
            case 6:
              return known && t.archive(known.version);
            case 7:
              return known && t.promoteTo(known.version, { allowRollbacks: true });
            default:
              // Blobs become old enough to be deleted while other deployments request them.
              t.engine.clock.shift(2_000_000);
              return t.prune();
          }
        };
        await act().catch((error: unknown) => {
          // A rejection has a reason; any other error is a bug.
          if (!(error instanceof Problem) || ![404, 409].includes(error.status)) throw error;
          refused.push(error.message);
        });
      }
    };
    await Promise.all([0, 1, 2, 3].map(client));

    // Every ready version has all of its contents, verified.
    const broken = await t.sql`
      select v.version from versions v cross join lateral jsonb_array_elements(v.bundle -> 'files') f
       where v.state = 'ready' and not exists (
         select from version_blobs r join blobs b on b.project_id = r.project_id and b.digest = r.blob
          where r.version_id = v.id and b.digest = f ->> 'blob' and b.content_digest = f ->> 'digest')`;
    expect(broken).toEqual([]);
    const torn = await t.sql`
      select b.digest from blobs b
       where case when b.object_key is null then b.received else 0 end
             <> (select coalesce(sum(length(p.data)), 0) from blob_pieces p
                  where p.project_id = b.project_id and p.blob = b.digest)`;
    expect(torn).toEqual([]);
    // Every blob of a version can be fetched, regardless of where it is stored.
    for (const { version, blob } of await t.sql<{ version: string; blob: string }[]>`
      select v.version, r.blob from version_blobs r join versions v on v.id = r.version_id where v.state = 'ready'`)
      expect(sha256(await t.fetch(version, blob))).toBe(blob);
    // The current version can be served, and no two ready versions have the same content.
    const [current] = await t.sql<{ state: string }[]>`
      select v.state from current_versions c join versions v on v.id = c.version_id where c.env = ${env}`;
    expect(current?.state ?? 'ready').toBe('ready');
    const twice = await t.sql`
      select content_hash from versions where state in ('ready', 'uploading') group by 1 having count(*) > 1`;
    expect(twice).toEqual([]);
    const names = await t.sql<{ count: number; names: number }[]>`
      select count(*)::int as count, count(distinct version)::int as names from versions`;
    expect(names[0]!.count).toBe(names[0]!.names);
    const leftover =
      await t.sql`select from version_blobs r join versions v on v.id = r.version_id where v.state in ('failed', 'archived')`;
    expect(leftover).toEqual([]);
    // Unneeded data is deleted.
    for (const { version } of await t.sql<{ version: string }[]>`
      select version from versions v where state = 'ready' and not exists (select from current_versions c where c.version_id = v.id)`)
      await t.archive(version);
    t.engine.clock.shift(30 * 3_600_000);
    while (await t.prune());
    await t.prune();
    const left =
      await t.sql`select from blobs b where not exists (select from version_blobs r where r.blob = b.digest)`;
    expect(left).toEqual([]);
    const named = await t.sql<
      { key: string }[]
    >`select object_key as key from blobs where object_key is not null`;
    const objects = [...((await s3?.objects()) ?? new Map<string, string>()).keys()];
    expect(objects.toSorted()).toEqual(named.map(({ key }) => `millrace/files/${key}`).toSorted());
  },
  60_000,
);
