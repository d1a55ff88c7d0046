/** Makes a version current, by default the newest. No runner needs to have loaded it. Returns its name. */
export async function promote(url: string, secretKey: string, version?: string): Promise<string> {
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`${url}/api/v1/deployments/${path}`, {
      method,
      headers: { authorization: `Bearer ${secretKey}` },
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as { version: string };
  };
  const name = version ?? (await ask('latest')).version;
  await ask(`${name}/promote?force=true&allowRollbacks=true`, 'POST');
  return name;
}
