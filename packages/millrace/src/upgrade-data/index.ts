export { keptClusters, removeKept } from './kept.ts';
export { upgradeData } from './upgrade.ts';
