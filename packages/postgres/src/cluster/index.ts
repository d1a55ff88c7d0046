export { clusterMajor, findBinaries, OLDEST_MAJOR, readBinaries, type Binaries } from './binaries.ts';
export { cleanUpServer } from './clean-up.ts';
export { syncCluster } from './initialise.ts';
export { serverUser, type ServerUser } from './server-user.ts';
export { startPostgres } from './start.ts';
export { CLUSTER, finishSwap, isSwapping, swapClusters } from './swap.ts';
export { claimArchive, WAL_FOLDER } from './wal-archive.ts';
