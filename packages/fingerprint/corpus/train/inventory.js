import axios from 'axios';
import { fetch as undiciFetch, request } from 'undici';

class UpstreamError extends Error {
  constructor(response, body) {
    super(`Upstream answered ${response.status}: ${body}`);
    this.name = 'UpstreamError';
    this.status = response.status;
  }
}

async function getStock(http, sku) {
  const { data } = await axios.get(`${http}/stock/${sku}`, { headers: { 'x-request-id': sku } });
  return data;
}

async function putStock(http, sku, status) {
  return await axios.put(`${http}/status/${status}/stock/${sku}`, { level: 1 });
}

async function slowStock(http, ms) {
  return await axios.get(`${http}/slow`, { timeout: ms });
}

async function unreachableStock(host) {
  return await axios.post(`http://${host}:39471/stock`, { level: 1 });
}

async function fetchOrFail(url) {
  const response = await fetch(url);
  if (!response.ok) throw new UpstreamError(response, await response.text());
  return await response.json();
}

async function syncSupplier(http, sku) {
  return await fetchOrFail(`${http}/status/503/${sku}`);
}

async function readCatalogue(http) {
  return await fetchOrFail(`${http}/html`);
}

class SupplierClient {
  constructor(base) {
    this.base = base;
  }

  async order(sku) {
    const response = await fetch(`${this.base}/orders/${sku}`, { method: 'POST' });
    return await response.json();
  }

  async cancel(sku) {
    const response = await fetch(`${this.base}/cancel/${sku}`, { method: 'POST' });
    return await response.json();
  }

  async track(sku, ms) {
    const response = await fetch(`${this.base}/slow`, { signal: AbortSignal.timeout(ms) });
    return await response.json();
  }
}

async function undiciRefused(host) {
  await request(`http://${host}:39471/levels`);
}

async function undiciLevels(host) {
  await undiciFetch(`http://${host}:39471/levels`);
}

async function undiciSlow(http, ms) {
  await request(`${http}/slow`, { headersTimeout: ms, bodyTimeout: ms });
}

export const tasks = {
  stock: { id: 'get-stock', run: async ({ sku }, { http }) => await getStock(http, sku) },
  put: { id: 'put-stock', run: async ({ sku, status }, { http }) => await putStock(http, sku, status) },
  slow: { id: 'slow-stock', run: async ({ ms }, { http }) => await slowStock(http, ms) },
  unreachable: { id: 'push-stock', run: async ({ host }) => { await unreachableStock(host); } },
  supplier: { id: 'sync-supplier', run: async ({ sku }, { http }) => await syncSupplier(http, sku) },
  catalogue: { id: 'read-catalogue', run: async (_payload, { http }) => await readCatalogue(http) },
  order: { id: 'order-parts', run: async ({ host, sku }) => await new SupplierClient(`http://${host}:39471`).order(sku) },
  cancel: { id: 'cancel-parts', run: async ({ host, sku }) => await new SupplierClient(`http://${host}:39471`).cancel(sku) },
  track: { id: 'track-parts', run: async ({ ms }, { http }) => await new SupplierClient(http).track('x', ms) },
  undici: { id: 'undici-levels', run: async ({ host }) => await undiciRefused(host) },
  undiciFetch: { id: 'undici-fetch', run: async ({ host }) => await undiciLevels(host) },
  undiciSlow: { id: 'undici-slow', run: async ({ ms }, { http }) => await undiciSlow(http, ms) },
};

const loop = (d) => `127.${d.int(0, 255)}.${d.int(0, 255)}.${d.int(1, 250)}`;

export const bugs = [
  { label: 'axios 404', task: tasks.stock, payload: (d) => ({ sku: d.sku() }) },
  { label: 'axios put 500', task: tasks.put, payload: (d) => ({ sku: d.sku(), status: 500 }) },
  { label: 'axios put 404', task: tasks.put, payload: (d) => ({ sku: d.sku(), status: 404 }) },
  { label: 'axios put 429', task: tasks.put, payload: (d) => ({ sku: d.sku(), status: 429 }) },
  { label: 'axios timeout', task: tasks.slow, payload: (d) => ({ ms: d.int(10, 90) }) },
  { label: 'axios refused', task: tasks.unreachable, payload: (d) => ({ host: loop(d) }) },
  { label: 'axios not found', task: tasks.unreachable, payload: (d) => ({ host: `${d.word()}${d.int(1, 99)}.invalid` }) },
  { label: 'upstream 503', task: tasks.supplier, payload: (d) => ({ sku: d.sku() }) },
  { label: 'html instead of json', task: tasks.catalogue, payload: () => ({}) },
  { label: 'fetch order refused', inspected: true, task: tasks.order, payload: (d) => ({ host: loop(d), sku: d.sku() }) },
  { label: 'fetch order not found', inspected: true, task: tasks.order, payload: (d) => ({ host: `${d.word()}${d.int(1, 99)}.invalid`, sku: d.sku() }) },
  { label: 'fetch cancel refused', task: tasks.cancel, payload: (d) => ({ host: loop(d), sku: d.sku() }) },
  { label: 'fetch timeout', task: tasks.track, payload: (d) => ({ ms: d.int(10, 60) }) },
  { label: 'undici refused', task: tasks.undici, payload: (d) => ({ host: loop(d) }) },
  { label: 'undici fetch refused', inspected: true, task: tasks.undiciFetch, payload: (d) => ({ host: loop(d) }) },
  { label: 'undici headers timeout', task: tasks.undiciSlow, payload: (d) => ({ ms: d.int(10, 60) }) },
];
