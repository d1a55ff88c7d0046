import { captureAll } from './capture.js';
import { bugs as clinic } from './clinic.js';
import { bugs as gateway } from './gateway.js';

const named = { clinic, gateway };
void captureAll(Object.entries(named).flatMap(([file, bugs]) => bugs.map((bug) => ({ ...bug, label: `${file}: ${bug.label}` }))));
