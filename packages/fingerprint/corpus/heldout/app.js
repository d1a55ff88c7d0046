import { captureAll } from './capture.js';
import { bugs as calls } from './calls.js';
import { bugs as depot } from './depot.js';
import { bugs as stores } from './stores.js';

const named = { calls, depot, stores };
void captureAll(Object.entries(named).flatMap(([file, bugs]) => bugs.map((bug) => ({ ...bug, label: `${file}: ${bug.label}` }))));
