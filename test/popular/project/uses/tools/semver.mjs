import semver from 'semver';

export default async () => semver.satisfies('1.2.3', '^1');
