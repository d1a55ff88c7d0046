import { environmentName, needTables, type DatabaseCheck, type EnvironmentRow } from '../database-input.ts';

/** The oldest supported Node.js major version. */
const minNode = 20;

export const runnersOld: DatabaseCheck = {
  name: 'runners-old',
  condition: `connected runners have the release of the server, and Node ${minNode} or later`,
  severity: 'warning',
  why: 'An older runner lacks fixes. It is tested only with servers of the next release.',
  fix: "Install the server's release for the runner, and restart it: `npm install millrace@<version>`.",
  async find(input) {
    needTables(input);
    const { version } = input.release;
    const rows = await input.sql<
      (EnvironmentRow & { id: string; host: string; release: string | null; node: number | null })[]
    >`
      select r.id, r.host, r.release, r.node_major as node, p.ref as project, e.kind, e.branch
        from runners r join environments e on e.id = r.env join projects p on p.id = e.project_id
       where r.expires_at > now() order by r.connected_at limit 1000`;
    return rows
      .filter(({ release, node }) => isOlder(release, version) || (node !== null && node < minNode))
      .slice(0, 10)
      .map((row) => ({
        what:
          `The runner ${row.id} on ${row.host} in ${environmentName(row)} is ` +
          (isOlder(row.release, version)
            ? `of release ${row.release ?? 'unknown'}; the server has release ${version}.`
            : `on Node ${row.node ?? 0}.`),
      }));
  },
};

/** Whether it is older by more than a patch release. Runners of early releases do not report theirs. */
function isOlder(release: string | null, than: string): boolean {
  if (release === null) return true;
  const [major = 0, minor = 0] = release.split('.').map(Number);
  const [ownMajor = 0, ownMinor = 0] = than.split('.').map(Number);
  return major < ownMajor || (major === ownMajor && minor < ownMinor);
}
