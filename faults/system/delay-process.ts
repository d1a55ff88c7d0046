/** `node delay-process.ts <own address> <control port> <target host> <target port>`: a line on the control port sets the delay in milliseconds. */
import { connect, createServer, type Socket } from 'node:net';

const [address = '', controlPort = '', host = '', port = ''] = process.argv.slice(2);
let delayMs = 0;

/** Passes bytes on after the delay, which varies by half of it. Their order is preserved. */
function pass(from: Socket, to: Socket): void {
  let last = 0;
  from.on('data', (bytes) => {
    const due = Math.max(last, Date.now() + delayMs * (0.75 + Math.random() / 2));
    last = due;
    setTimeout(() => to.write(bytes), due - Date.now());
  });
  from.on('error', () => from.destroy());
  from.on('close', () => setTimeout(() => to.destroy(), Math.max(0, last - Date.now())));
}

createServer((client) => {
  const upstream = connect(Number(port), host);
  pass(client, upstream);
  pass(upstream, client);
}).listen(5_000, address);

createServer((control) => {
  control.on('data', (text) => (delayMs = Number(String(text).trim())));
  control.on('error', () => control.destroy());
  control.on('end', () => control.end());
}).listen(Number(controlPort), address);
