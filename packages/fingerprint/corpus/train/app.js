import { captureAll } from './capture.js';
import { bugs as billing } from './billing.js';
import { bugs as inventory } from './inventory.js';
import { bugs as plumbing } from './plumbing.js';
import { bugs as services } from './services.js';
import { bugs as users } from './users.js';

const named = { billing, inventory, plumbing, services, users };
void captureAll(Object.entries(named).flatMap(([file, bugs]) => bugs.map((bug) => ({ ...bug, label: `${file}: ${bug.label}` }))));
